// Package ratelimit drops what is over a rate, of all packets or of each flow or prefix by
// itself. Unlike a shaper it holds nothing back, so that it adds no delay.
package ratelimit

import (
	_ "embed"
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// Options of a rate limit, for each direction by itself.
type Options struct {
	// Rate that passes, 8kbit to 1Tbit.
	Rate api.Rate `json:"rate" jsonschema:"required"`
	// Burst may pass at once, less than 4 GiB. Default: 1 ms at the rate, at least 128 KiB,
	// which is two segments as large as the kernel makes them. What is over it is
	// dropped, not queued, which leaves TCP little of the rate: it wants a burst of a
	// third of a second, or a shaper.
	Burst api.Size `json:"burst,omitempty"`
	// Per says what has the rate: chain (default), all packets together; flow, those of
	// the same addresses, protocol and ports; source or destination, those from or to the
	// same prefix.
	Per string `json:"per,omitempty" jsonschema:"enum=chain,enum=flow,enum=source,enum=destination"`
	// IPv4Prefix and IPv6Prefix are the lengths of prefixes. Default 32 and 64.
	IPv4Prefix int `json:"ipv4_prefix,omitempty" jsonschema:"minimum=1,maximum=32"`
	IPv6Prefix int `json:"ipv6_prefix,omitempty" jsonschema:"minimum=1,maximum=128"`
	// Flows is how many flows or prefixes are told apart at once. Of more, the ones not
	// seen for longest are forgotten, and have their whole burst when they come again.
	// Default 65536.
	Flows int `json:"flows,omitempty" jsonschema:"minimum=4096,maximum=4194304"`
}

//go:embed ratelimit.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

var owners = map[string]pass.Per{"chain": pass.Chain, "flow": pass.Flow, "source": pass.Source, "destination": pass.Destination}

// Validate implements the catalogue's check of options.
func (o *Options) Validate() (wrong []api.FieldProblem) {
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if o.Rate < pass.LeastRate || o.Rate > pass.MostRate {
		add("rate", "a limit's rate is between 8kbit and 1Tbit")
	}
	if o.Burst > pass.MostBurst {
		add("burst", "a limit's burst is below 4GiB")
	}
	if _, known := owners[o.Per]; !known {
		add("per", "%q has no rate; use chain, flow, source or destination", o.Per)
	}
	if o.IPv4Prefix < 1 || o.IPv4Prefix > 32 {
		add("ipv4_prefix", "a prefix of IPv4 has 1 to 32 bits")
	}
	if o.IPv6Prefix < 1 || o.IPv6Prefix > 128 {
		add("ipv6_prefix", "a prefix of IPv6 has 1 to 128 bits")
	}
	if o.Flows < pass.LeastFlows || o.Flows > pass.MostFlows {
		add("flows", "%d to %d flows can be told apart", pass.LeastFlows, pass.MostFlows)
	}
	return wrong
}

// Kind is the ratelimit function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "ratelimit" }

// Options implements function.Kind.
func (Kind) Options() any {
	return &Options{Per: "chain", IPv4Prefix: 32, IPv6Prefix: 64, Flows: 65536}
}

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{
		Does:    "drops what is over a rate, of all, or of each flow or prefix by itself",
		Example: `{rate: 100Mbit, per: flow}`,
	}
}

// Requires implements function.Kind.
func (Kind) Requires(any) []string { return []string{feature.BPFIngress} }

// OnOneArm implements function.OneArmed.
func (Kind) OnOneArm(site function.Site, _ any) error { return function.OneWay(site) }

// leastBurst is two of the largest segments that the kernel makes.
const leastBurst = 128 << 10

func (o *Options) bucket() pass.Bucket {
	b := pass.Bucket{Rate: uint64(o.Rate), Burst: uint64(o.Burst), Per: owners[o.Per], Bits4: uint8(o.IPv4Prefix), Bits6: uint8(o.IPv6Prefix)}
	if b.Burst == 0 {
		b.Burst = max(b.Rate/8/1000, leastBurst)
	}
	return b
}

// Steps implements function.Inline.
func (Kind) Steps(options any) (function.Steps, error) {
	o := options.(*Options)
	b, flows := o.bucket(), uint32(0)
	if b.Per != pass.Chain {
		flows = uint32(o.Flows)
	}
	return function.Steps{Step: func(int) pass.Step { return pass.NewLimit(0, b) }, Flows: flows}, nil
}

// Contribute implements function.Kind.
func (k Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	return site.Takes(k.Steps(options))
}
