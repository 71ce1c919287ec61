// Package mirror copies packets that pass to a tap: a namespace that hangs off the
// function, where programs can capture. The tap has no addresses and forwards nothing.
package mirror

import (
	"errors"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/redirect"
)

// Kind is the mirror function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "mirror" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "copies every packet to a tap, or those of some addresses, and forwards it"}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.Veth, feature.Redirect} }

// The interfaces of the link to the tap: Out at the function, In at the tap.
const (
	Out = "tap0"
	In  = "eth0"
)

// Tap is the name of a function's tap where nodes have theirs.
func Tap(node string) string { return node + ".tap" }

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	if site.West == "" || site.East == "" {
		return nil, errors.New("a mirror has a tap of its chain's, so it cannot stand alone")
	}
	o, given := options.(*Options)
	if !given {
		o = &Options{}
	}
	if err := o.inNamespace(); err != nil {
		return nil, err
	}
	ends := o.ends()
	place, end := tap(site)
	pair := resource.New(site.Namespace, link.Spec{
		Owner: site.Owner, MTU: site.MTU, Quiet: true, // the tap gets copies and nothing else
		A: link.End{Node: site.Node, Namespace: site.Namespace, Device: Out, MAC: link.MAC(site.Owner, site.Node, Out)}, B: end,
	}, append([]string{place.ID}, site.Needs...)...)
	made := []resource.Resource{place, pair}
	for _, in := range copied(site) {
		made = append(made, resource.New(site.Namespace, redirect.Spec{Device: in, To: Out, Copy: true, Source: ends.Source, Destination: ends.Destination}, append([]string{pair.ID}, site.Needs...)...))
	}
	return made, nil
}

// tap of a mirror, and its end of the pair that leads there.
func tap(site function.Site) (resource.Resource, link.End) {
	name := namespace.Name(site.Owner, Tap(site.Node))
	place := resource.New("", namespace.Spec{Name: name, Sysctls: namespace.Sysctls(false, true)})
	return place, link.End{Node: Tap(site.Node), Namespace: name, Device: In, MAC: link.MAC(site.Owner, Tap(site.Node), In)}
}

// Steps implements function.Inline: the tap is beside the ports where packets are copied.
func (Kind) Steps(options any) (function.Steps, error) {
	o := options.(*Options)
	copies := o.copies()
	return function.Steps{
		Less:   o.inNamespace() == nil, // there broken packets are copied, too
		Step:   func(int) pass.Step { return pass.NewMirror(0, copies) },
		Copied: copies.Ends,
		Tap: func(site function.Site, other link.End) []resource.Resource {
			place, end := tap(site)
			pair := resource.New(end.Namespace, link.Spec{Owner: site.Owner, MTU: site.MTU, Quiet: true, A: end, B: other}, append([]string{place.ID}, site.Needs...)...)
			return []resource.Resource{place, pair}
		},
	}, nil
}

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(site function.Site, _ any) error { return function.OneWay(site) }

// copied is where packets come in that are copied.
func copied(site function.Site) []string {
	switch site.Direction {
	case api.Forward:
		return []string{site.West}
	case api.Reverse:
		return []string{site.East}
	}
	return slices.Compact([]string{site.West, site.East})
}
