// Package passthrough is the function that does nothing but pass packets on, and does it by
// programs of nfchain's own at its interfaces: the kernel of its namespace never looks at them.
// It is what a namespace costs where no protocol stack is in it.
package passthrough

import (
	"cmp"
	_ "embed"
	"errors"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/through"
)

// Options of a passthrough function.
type Options struct {
	// Mode is where packets are taken: tc, behind the interface's driver, where TCP's
	// super-packets stay whole, or xdp, in the driver, where they are sent on several at a
	// time; the nodes beside then cut packets and sum them up by themselves, and wiring veth
	// is needed. Default tc.
	Mode string `json:"mode,omitempty" jsonschema:"enum=tc,enum=xdp"`
}

//go:embed passthrough.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Kind is the passthrough function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "passthrough" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{
		Does:    "passes packets on without being a hop, by programs of nfchain's own: the fastest that a namespace can be",
		Example: `{mode: tc}`,
	}
}

// Requires implements function.Kind.
func (k Kind) Requires(options any) []string {
	needs := []string{feature.Veth, feature.BPFPeer, feature.BPFIngress}
	if k.Hook(options) == through.XDP {
		needs = append(needs, feature.BPFXDP)
	}
	return needs
}

// IsTransparent implements function.Transparent.
func (Kind) IsTransparent(any) bool { return true }

// Hook implements function.Handing.
func (Kind) Hook(options any) string { return cmp.Or(options.(*Options).Mode, through.TC) }

// Contribute implements function.Kind.
func (k Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	if site.West == "" || site.East == "" {
		return nil, errors.New("a passthrough is between its chain's nodes, so it cannot stand alone")
	}
	if site.Direction != api.Both && site.Direction != "" {
		return nil, errors.New("a passthrough passes on what comes from either side; leave direction out")
	}
	return through.Both(site.Namespace, site.West, site.East, k.Hook(options), site.Needs...), nil
}
