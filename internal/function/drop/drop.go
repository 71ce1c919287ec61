// Package drop drops a given share of the packets, for tests: at the speed of the kernel,
// and exactly which can be foretold.
package drop

import (
	_ "embed"
	"fmt"
	"math"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/impair"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// Options of a drop, for each direction by itself; give every or ratio. What is no IP, such
// as ARP, is never dropped.
type Options struct {
	// Every so many packets one, exactly: 1000 is one of a thousand, 1 is all.
	Every uint64 `json:"every,omitempty"`
	// Ratio is the probability of each, above 0 to 1.
	Ratio float64 `json:"ratio,omitempty" jsonschema:"minimum=0,maximum=1"`
	// Seed of what is random; the same seed drops the same packets. Default 1.
	Seed uint64 `json:"seed,omitempty"`
}

//go:embed drop.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Validate implements the catalogue's check of options.
func (o *Options) Validate() (wrong []api.FieldProblem) {
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case o.Ratio < 0 || o.Ratio > 1 || math.IsNaN(o.Ratio):
		add("ratio", "a ratio is a probability, above 0 to 1")
	case o.Every != 0 && o.Ratio != 0:
		add("ratio", "is given beside every; only one of them can be")
	case o.Every == 0 && o.Ratio == 0:
		add("every", "say which packets are dropped: every: 1000, or ratio: 0.001")
	}
	return wrong
}

// Kind is the drop function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "drop" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{Seed: 1} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "drops a share, exactly or at random, at the kernel's speed", Example: `{every: 1000}`}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.BPFIngress} }

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(site function.Site, _ any) error { return function.OneWay(site) }

// Steps implements function.Inline.
func (Kind) Steps(options any) (function.Steps, error) {
	o := options.(*Options)
	return function.Steps{Step: func(way int) pass.Step {
		// Numbers are drawn below 2^53; ratio times that is exact, and a part of one is one more.
		below := uint64(math.Ceil(math.Ldexp(o.Ratio, 53)))
		return pass.NewDrop(0, pass.Share{Every: o.Every, Below: below, Dice: impair.Dice(o.Seed, way)})
	}}, nil
}

// Contribute implements function.Kind.
func (k Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	return site.Takes(k.Steps(options))
}
