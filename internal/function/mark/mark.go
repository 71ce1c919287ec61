// Package mark gives packets a mark of the kernel's, by which rules, routes and programs of the
// namespace that they are in, or come to next, tell them from others. It is no part of the
// packet, and goes no further.
package mark

import (
	_ "embed"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// Options of a mark.
type Options struct {
	// Value that the marks of packets get.
	Value uint32 `json:"value" jsonschema:"required"`
	// Mask has the bits of a mark that are given; the others stay. Default: all, 4294967295.
	Mask uint32 `json:"mask,omitempty"`
}

//go:embed mark.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	if o.Value&^o.Mask != 0 {
		return []api.FieldProblem{{Path: "value", Message: "has bits that the mask leaves as they are; give the mask those too"}}
	}
	return nil
}

// Kind is the mark function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "mark" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{Mask: 1<<32 - 1} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{
		Does:    "gives packets a mark of the kernel's, which holds in the namespace that they are in or come to next",
		Example: `{value: 16}`,
	}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.BPFIngress} }

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(site function.Site, _ any) error { return function.OneWay(site) }

// Steps implements function.Inline.
func (Kind) Steps(options any) (function.Steps, error) {
	o := options.(*Options)
	return function.Steps{Step: func(int) pass.Step { return pass.NewMark(0, o.Value, o.Mask) }}, nil
}

// Contribute implements function.Kind.
func (k Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	return site.Takes(k.Steps(options))
}
