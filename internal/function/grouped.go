package function

import "nfchain.dev/nfchain/internal/resource/ruleset"

// Grouped is a kind that can share its namespace with others, in an order.
type Grouped interface {
	Kind
	// Acts tells where the function acts on packets that go the way in which connections
	// are opened that it is for, or on the answers to them. One that translates nothing
	// and is for one direction is not asked of the other.
	Acts(answers bool, options any) Span
}

// Stage is where on a packet's way through a namespace something is done with it, in
// the order in which the kernel comes by.
type Stage int

// The stages at which functions act.
const (
	Arriving Stage = iota + 1 // destinations are translated
	Passing                   // rules are asked
	Classing                  // classes are told
	Leaving                   // sources are translated
	Queueing                  // the queue of the interface
)

// Span is the stages from the first to the last at which a function acts on a packet;
// the zero Span is of one that acts on none.
type Span struct {
	First, Last Stage
	// Ordered tells that several can be at the stage, by [Site.Order].
	Ordered bool
}

// Nowhere tells that the function acts on no packet on its way through.
func (s Span) Nowhere() bool { return s.First == 0 }

// Table is the name of an nftables table of the function's.
func (s Site) Table(name string) string {
	name = ruleset.TablePrefix + "-" + name
	if s.Beside != "" {
		name += "-" + s.Beside
	}
	return name
}
