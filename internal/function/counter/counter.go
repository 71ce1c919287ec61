// Package counter counts the packets that pass, and their bytes, for each direction.
package counter

import (
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// Options of a counter: there are none.
type Options struct{}

// Kind is the counter function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "counter" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown { return function.Shown{Does: "counts packets and bytes"} }

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.BPFIngress} }

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(site function.Site, _ any) error { return function.OneWay(site) }

// Steps implements function.Inline.
func (Kind) Steps(any) (function.Steps, error) {
	return function.Steps{Step: func(int) pass.Step { return pass.NewCount(0) }}, nil
}

// Contribute implements function.Kind.
func (k Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	return site.Takes(k.Steps(options))
}
