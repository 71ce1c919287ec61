// Package impair drops, duplicates, reorders and delays packets on purpose, so that
// what measures loss or delay can be held to a known one.
package impair

import (
	_ "embed"
	"fmt"
	"math"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
)

// Options of an impairment, for each direction by itself.
type Options struct {
	// Backend is tun, a program that keeps a record of what it did and how late; netem,
	// the kernel's queueing discipline, faster and without record; or auto (default):
	// tun where the kernel has it.
	Backend string `json:"backend,omitempty" jsonschema:"enum=auto,enum=tun,enum=netem"`
	// Loss says which packets are lost.
	Loss Pick `json:"loss,omitempty"`
	// Duplicate says which packets go on twice.
	Duplicate Pick `json:"duplicate,omitempty"`
	// Reorder puts packets behind later ones (tun only).
	Reorder Reorder `json:"reorder,omitempty"`
	// Delay of every packet; Jitter is how much more or less it may be, evenly spread.
	Delay  api.Duration `json:"delay,omitempty"`
	Jitter api.Duration `json:"jitter,omitempty"`
	// Limit is how many packets are held at once; more are dropped, and counted.
	// Default 100000.
	Limit int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=10000000"`
	// Seed of everything random; the same seed picks the same packets (tun only).
	Seed uint64 `json:"seed,omitempty"`
}

//go:embed impair.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Pick says which packets are meant; give one of its fields.
type Pick struct {
	// Every so many packets one, exactly (tun only): 1000 is one of a thousand.
	Every uint64 `json:"every,omitempty"`
	// Ratio is the probability of each, above 0 to 1.
	Ratio float64 `json:"ratio,omitempty" jsonschema:"minimum=0,maximum=1"`
}

// Reorder says which packets are put back, and how far.
type Reorder struct {
	Pick
	// By is how many later packets overtake one. Default 1.
	By int `json:"by,omitempty" jsonschema:"minimum=1,maximum=10000"`
}

// The back ends.
const (
	auto  = "auto"
	tun   = "tun"
	netem = "netem"
)

// longestDelay that may be asked for.
const longestDelay = api.Duration(time.Minute)

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path, format string, args ...any) {
		wrong = append(wrong, api.FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if o.Backend != auto && o.Backend != tun && o.Backend != netem {
		add("backend", "%q is not a back end; use auto, tun or netem", o.Backend)
	}
	for path, p := range map[string]Pick{"loss": o.Loss, "duplicate": o.Duplicate, "reorder": o.Reorder.Pick} {
		p.check(func(format string, args ...any) { add(path, format, args...) })
	}
	if o.Reorder.By < 1 || o.Reorder.By > 10_000 {
		add("reorder.by", "a packet is put behind 1 to 10000 others")
	} else if o.Reorder.By > 1 && o.Reorder.Pick == (Pick{}) {
		add("reorder", "say which packets are put back: every: 100, or ratio: 0.01")
	}
	if o.Delay > longestDelay {
		add("delay", "a delay is at most %s", longestDelay)
	}
	if o.Jitter > o.Delay {
		add("jitter", "a jitter of %s would send packets before they came; it is at most the delay, %s", o.Jitter, o.Delay)
	}
	if o.Limit < 1 || o.Limit > 10_000_000 {
		add("limit", "1 to 10000000 packets can be held")
	}
	o.checkNetem(add)
	return wrong
}

// Delays is the longest that a packet may be held there and back, whatever the
// direction.
func (o *Options) Delays() api.Duration { return 2 * (o.Delay + o.Jitter) }

func (p Pick) check(add func(format string, args ...any)) {
	switch {
	case p.Every != 0 && p.Ratio != 0:
		add("give every or ratio, not both")
	case p.Ratio < 0 || p.Ratio > 1 || math.IsNaN(p.Ratio):
		add("a ratio is a probability, 0 to 1")
	}
}

// Settle implements function.Settler: auto becomes the back end that this machine
// has. The program comes first, because it can do all and tells what it did.
func (Kind) Settle(options any, has func(feature string) bool) any {
	o := *options.(*Options)
	if o.Backend != auto {
		return &o
	}
	o.Backend = tun
	if !hasAll(has, programNeeds) && hasAll(has, netemNeeds) && len(o.beyondNetem()) == 0 {
		o.Backend = netem
	}
	return &o
}

func hasAll(has func(string) bool, features []string) bool {
	for _, f := range features {
		if !has(f) {
			return false
		}
	}
	return true
}

// Kind is the impair function.
type Kind struct{}

// Name implements function.Kind.
func (Kind) Name() string { return "impair" }

// Options implements function.Kind.
func (Kind) Options() any {
	return &Options{Backend: auto, Reorder: Reorder{By: 1}, Limit: 100_000, Seed: 1}
}

var programNeeds, netemNeeds = []string{"tun", "tc.redirect"}, []string{"qdisc.netem"}

// Shows implements function.Kind.
func (Kind) Shows() function.Shown {
	return function.Shown{
		Does:    "drops, duplicates, reorders and delays packets, exactly or at random, and tells how late each went on",
		Example: `{backend: netem, delay: 20ms, loss: {ratio: 0.01}}`, Contained: `{backend: netem}`,
	}
}

// Requires implements function.Kind.
func (Kind) Requires(options any) []string {
	if options.(*Options).Backend == netem {
		return netemNeeds
	}
	return programNeeds
}

// Runs implements function.Runner.
func (Kind) Runs(options any) bool { return options.(*Options).Backend != netem }

// Contribute implements function.Kind.
func (Kind) Contribute(site function.Site, options any) ([]resource.Resource, error) {
	o := options.(*Options)
	if o.Backend == netem {
		return o.discipline(site), nil
	}
	return o.program(site), nil
}
