// Package dscp gives packets a code point of differentiated services (RFC 2474), in the
// traffic class of IPv4 and IPv6. Congestion notification in the same byte stays.
package dscp

import (
	_ "embed"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// Options of a dscp.
type Options struct {
	// Code that packets get: 0 to 63, or its name: ef, va, le, cs0 to cs7, af11 to af43.
	Code Code `json:"code" jsonschema:"required"`
}

//go:embed dscp.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Code is a code point, by its number or name.
type Code string

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found by
// [Options.Validate].
func (c *Code) UnmarshalText(text []byte) error {
	*c = Code(text)
	return nil
}

// point is the number of a code, or an error.
func (c Code) point() (uint8, error) { return api.ParseCodePoint(string(c)) }

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	if _, err := o.Code.point(); err != nil {
		return []api.FieldProblem{{Path: "code", Message: err.Error()}}
	}
	return nil
}

// Kind is the dscp function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "dscp" }

// Options implements function.Kind.
func (Kind) Options() any { return &Options{} }

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{Does: "gives packets a code point", Example: `{code: ef}`}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.BPFIngress} }

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(site function.Site, _ any) error { return function.OneWay(site) }

// Steps implements function.Inline.
func (Kind) Steps(options any) (function.Steps, error) {
	code, err := options.(*Options).Code.point()
	return function.Steps{Step: func(int) pass.Step { return pass.NewDSCP(0, code) }}, err
}

// Contribute implements function.Kind.
func (k Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	return site.Takes(k.Steps(options))
}
