package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/wiring"
)

// Brought is a container that another runtime has put in a node's place.
type Brought struct {
	// Namespace by its name.
	Namespace string
	// Devices are the names that the chain's interfaces have there, from west to east.
	Devices []string
}

// bringAll puts containers that other runtimes bring into the places that are for them.
func (b *builder) bringAll() error {
	places := b.chain.Spec.Brought()
	var refused []error
	for i := range b.nodes {
		if n := &b.nodes[i]; slices.Contains(places, n.Name) {
			refused = append(refused, b.bring(n))
		}
	}
	return errors.Join(refused...)
}

func (b *builder) bring(n *Node) error {
	if n.Kind != "endpoint" {
		if _, vacant := b.catalogue.Functions[n.Kind].(function.Vacant); !vacant {
			return fmt.Errorf("function %s: runtime: a container that another runtime brings does its own work, so nothing of kind %s is made there; write kind: forward, and put the %s beside it", n.Name, n.Kind, n.Kind)
		}
	}
	if w, is := b.wiring.(wiring.Naming); is {
		if called := w.Called(b.wiringOptions(), b.machineHas(), n.Name, "eth0"); called != "eth0" {
			return fmt.Errorf("%s: runtime: interfaces have names of wiring %s's own (%s), and a container that another runtime brings has the names that this one gives; use other options of it, or wiring: veth", n.Name, b.wiring.Name(), called)
		}
	}
	n.Brought = true
	came, is := b.facts.Brought[n.Name]
	if n.Waits = !is; is {
		n.Namespace, n.Made, n.devices = came.Namespace, false, came.Devices
	}
	return nil
}

// inside is the name that the device of a node has in a container which was brought.
func (n Node) inside(device string) (name string, is bool) {
	at := 0
	if device == "eth1" {
		at = 1
	}
	if !n.Brought || n.Made || at >= len(n.devices) || device != "eth0" && device != "eth1" {
		return "", false
	}
	return n.devices[at], true
}

// settle the namespace of a node that a container is brought for: the one that stands in for it, or its own.
func (b *builder) settle(n Node) {
	if n.Waits {
		b.add(resource.New("", namespace.Spec{Name: n.Namespace, Sysctls: namespace.Still(b.ipv6())}))
		return
	}
	if set := namespace.BroughtSysctls(n.Kind != "endpoint", b.ipv6()); len(set) > 0 {
		b.add(resource.New("", namespace.Spec{Name: n.Namespace, Sysctls: set, Contained: true}))
	}
}

// Waiting are the nodes whose containers have not come.
func (p *Plan) Waiting() (names []string) {
	for _, n := range p.Nodes {
		if n.Waits {
			names = append(names, n.Name)
		}
	}
	return names
}

// awaited tells of nodes whose containers have not come.
func (b *builder) awaited() []string {
	var names []string
	for _, n := range b.nodes {
		if n.Waits {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	waits := map[bool]string{true: "waits for its container", false: "wait for their containers"}[len(names) == 1]
	return []string{fmt.Sprintf("%s %s, which another runtime puts in by `nfchain cni`; until then nothing answers there, and what has to go through it goes no further", strings.Join(names, ", "), waits)}
}

// Interfaces is how many a container has that is brought for a node of a chain.
func Interfaces(chain api.Chain, c Catalogue, node string) int {
	b := &builder{chain: chain, catalogue: c, wiring: c.Wirings[chain.Spec.Wiring]}
	if slices.ContainsFunc(chain.Spec.Endpoints, func(e api.Endpoint) bool { return e.Name == node }) || b.oneArm() {
		return 1
	}
	return 2
}
