// Package forward is the function that does nothing but route: what a chain of
// namespaces costs by itself.
package forward

import (
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
)

// Options of a forward function: there are none.
type Options struct{}

// Kind is the forward function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "forward" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown { return function.Shown{Does: "routes"} }

// IsVacant implements function.Vacant.
func (Kind) IsVacant() {}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return nil }

// Acts implements function.Grouped: what it does the namespace does.
func (Kind) Acts(bool, any) function.Span { return function.Span{} }

// Shares implements function.Shareable.
func (Kind) Shares(any) string { return "" }

// Contribute implements function.Kind. Forwarding is a setting of the
// namespace, which every function has.
func (Kind) Contribute(function.Site, any) ([]resource.Resource, error) { return nil, nil }

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(function.Site, any) error { return nil }
