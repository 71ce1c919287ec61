package bridge

import (
	_ "embed"
	"fmt"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Options of the wiring.
type Options struct {
	// Per is hop (default), each pair of neighbours having a bridge of its own; chain, one
	// bridge for all, so that packets pass it between any two functions; or ends, one bridge
	// between the ends and the functions next to them, functions being joined to each other
	// by veth pairs.
	Per string `json:"per,omitempty" jsonschema:"enum=hop,enum=chain,enum=ends"`
	// Arms is how many interfaces a function has, each of which takes a port: 2
	// (default), or 1 with per: chain, by which packets come in and leave again. So
	// 1,021 functions fit on one bridge, where with two 510 do.
	Arms int `json:"arms,omitempty" jsonschema:"minimum=1,maximum=2"`
	// STP is the spanning tree protocol; off by default, for there is no loop. With it a
	// port takes 4 s until it forwards.
	STP bool `json:"stp,omitempty"`
	// Snooping is of multicast (IGMP and MLD); off by default.
	Snooping bool `json:"snooping,omitempty"`
	// Forwarding is static (default), bridges being told who is at which port; or
	// learning: they find out, and flood what is for nobody that they know, or for many.
	Forwarding string `json:"forwarding,omitempty" jsonschema:"enum=static,enum=learning"`
	// Ageing is how long a bridge remembers what it learned. Default 5m, as the kernel's.
	Ageing api.Duration `json:"ageing,omitempty"`
}

//go:embed options.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// The choices.
const (
	perHop   = "hop"
	perChain = "chain"
	perEnds  = "ends"
	static   = "static"
	learning = "learning"
)

// Ageing times that the kernel takes (IEEE 802.1Q-2014, table 8-6), and its own.
const (
	shortestAgeing = 10 * time.Second
	longestAgeing  = 1000000 * time.Second
	usualAgeing    = 300 * time.Second
)

// Options implements wiring.Wiring.
func (Wiring) Options() any {
	return &Options{Per: perHop, Arms: 2, Forwarding: static, Ageing: api.Duration(usualAgeing)}
}

// Arms implements wiring.Armed.
func (Wiring) Arms(options any) int { return options.(*Options).Arms }

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	if age := time.Duration(o.Ageing); age < shortestAgeing || age > longestAgeing || age%time.Second != 0 {
		wrong = append(wrong, api.FieldProblem{Path: "ageing", Message: fmt.Sprintf("a bridge forgets after %v to %v, in whole seconds", shortestAgeing, longestAgeing)})
	}
	switch {
	case o.Arms != 1 && o.Arms != 2:
		wrong = append(wrong, api.FieldProblem{Path: "arms", Message: fmt.Sprintf("a function has 1 or 2 interfaces, not %d", o.Arms)})
	case o.Arms == 1 && o.Per != perChain:
		wrong = append(wrong, api.FieldProblem{Path: "arms", Message: "one interface reaches both neighbours only if they are on the same bridge; add per: chain, or leave arms out"})
	}
	return wrong
}
