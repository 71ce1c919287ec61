// Package cni is the wiring that leaves it to CNI plugins (cni.dev) to attach the chain's ends to a network: what
// a configuration says, as Kubernetes and others have it. Interfaces and addresses are the plugins'.
package cni

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/cni"
	"nfchain.dev/nfchain/internal/wiring"
)

// Wiring is the CNI wiring.
type Wiring struct{}

var _ wiring.Attaching = Wiring{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "cni" }

// Attaches implements wiring.Attaching.
func (Wiring) Attaches() {}

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (joined wiring.Joined, err error) {
	o := n.Options.(*Options)
	network, err := cni.Network(n.File)
	if err != nil {
		if api.Inline(o.Config) {
			return joined, fmt.Errorf("config: %w", err)
		}
		return joined, fmt.Errorf("config: %s: %w", o.Config, err)
	}
	joined.Settings = map[string]string{"network": network.Name, "plugins": strings.Join(cni.Types(network), "+"), "config": cni.Digest(n.File)}
	for _, h := range n.Hops {
		var made [2]resource.Resource
		for i, p := range []wiring.Port{h.A, h.B} {
			made[i] = resource.New(p.Namespace, cni.Spec{Namespace: p.Namespace, Device: p.Device, Network: n.File, Plugins: o.Plugins}, h.Needs...)
		}
		joined.Resources = append(joined.Resources, made[:]...)
		joined.Ends = append(joined.Ends, wiring.Ends{A: made[0].ID, B: made[1].ID})
	}
	return joined, nil
}
