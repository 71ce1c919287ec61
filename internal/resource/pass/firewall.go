package pass

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/resource/pass/rules"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Firewall is the rules of a step. What is known of its connections, and what its rules counted, it
// has in common with the firewall of the same name at the namespace's other interfaces, where the
// packets of the other way come in; and what takes its place knows its connections.
type Firewall struct {
	// Slot of its step.
	Slot uint32 `json:"slot"`
	// Name tells it from other firewalls of the owner's in the namespace.
	Name string `json:"name"`
	// Policy for what no rule decides: accept or drop.
	Policy string `json:"policy"`
	// Rules, of which the first that matches decides.
	Rules []ruleset.Rule `json:"rules"`
	// Aside tells that packets of this way pass, whatever the rules say. They tell of connections,
	// whose other packets the rules are asked about.
	Aside bool `json:"aside,omitempty"`
}

// LeastConnections and MostConnections bound how many connections the firewalls of a pass
// remember at once, all together.
const (
	LeastConnections = LeastFlows
	MostConnections  = MostFlows
)

// Follows tells whether some rule asks for the state of a connection: then packets of both ways
// are to come by, the one way aside if need be.
func (f Firewall) Follows() bool {
	return slices.ContainsFunc(f.Rules, func(r ruleset.Rule) bool { return len(r.States) > 0 })
}

// asideBit of a digest tells that the rules are not asked.
const asideBit = 1

// digest names what the rules say, and whether they are asked. What was found out about a
// connection counts as long as this is the same.
func (f Firewall) digest() uint64 {
	text, err := json.Marshal(struct {
		Policy string
		Rules  []ruleset.Rule
	}{f.Policy, f.Rules})
	if err != nil {
		panic(err) // rules are plain data
	}
	sum := sha256.Sum256(text)
	digest := binary.BigEndian.Uint64(sum[:]) &^ asideBit
	if f.Aside {
		digest |= asideBit
	}
	return digest
}

// whose connections are its own.
func (f Firewall) whose() uint32 {
	sum := sha256.Sum256([]byte(f.Name))
	return binary.BigEndian.Uint32(sum[:])
}

// counters that it has: of each rule, and of the policy behind them.
func (f Firewall) counters() uint32 { return uint32(len(f.Rules) + 1) }

// table of the rules, in so many bytes. Where they are not asked it lets all pass, and asks for the
// state, so that connections are followed.
func (f Firewall) table(room int) (*rules.Table, error) {
	list, policy := f.Rules, f.Policy
	if f.Aside {
		list = []ruleset.Rule{{Match: ruleset.Match{States: []string{"new", "established", "related", "invalid"}}, Verdict: "accept"}}
		policy = "accept"
	}
	t, err := rules.Compile(list, policy, room)
	if err != nil {
		return nil, fmt.Errorf("firewall %s: %w", f.Name, err)
	}
	return t, nil
}

// NewRules is a firewall: what its rules and its policy drop is dropped and counted. Which they are, the
// pass's spec says by the slot.
func NewRules(slot uint32) Step { return Step{Act: Rules, Slot: slot} }

// named is a step with the firewall that it is.
func (s Step) named(f Firewall) Step {
	s.Args[1], s.Args[2] = uint64(f.whose()), f.digest()
	if f.Aside {
		s.Args[1] |= 1 << 32
	}
	return s
}

// asked are the rules of a step: where their table begins, their first counter, and what they say. They stand in the area
// that counts, laid out as the program reads them.
type asked struct {
	Base, First uint32
	Digest      uint64
}

// asking is a step with other rules.
func (s Step) asking(a asked) Step {
	s.Args[0], s.Args[2] = uint64(a.Base)|uint64(a.First)<<32, a.Digest
	return s
}

// placed is a step with where its table is, and its first counter.
func (s Step) placed(base, first uint32) Step { return s.asking(asked{base, first, s.digest()}) }

// base and first are what placed was given; whose and digest are of the firewall or NAT.
func (s Step) base() uint32   { return uint32(s.Args[0]) }
func (s Step) first() uint32  { return uint32(s.Args[0] >> 32) }
func (s Step) whose() uint32  { return uint32(s.Args[1]) }
func (s Step) digest() uint64 { return s.Args[2] }
func (s Step) asked() asked   { return asked{s.base(), s.first(), s.digest()} }

// asks tells whether another step has the same firewall with the same rules, be it aside or not.
func (s Step) asks(as Step) bool {
	return s.whose() == as.whose() && s.digest()|asideBit == as.digest()|asideBit
}

// named are all steps, those of firewalls and NATs with which these are.
func (s Spec) named() []Step {
	all := s.translating()
	for _, f := range s.Firewalls {
		for i, step := range all {
			if step.Act == Rules && step.Slot == f.Slot {
				all[i] = step.named(f)
			}
		}
	}
	return all
}

// asksRules tells whether a step is a firewall.
func asksRules(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Act == Rules })
}

// Aside tells whether the step of a slot is a firewall that lets all pass.
func (s Spec) Aside(slot uint32) bool {
	return slices.ContainsFunc(s.Firewalls, func(f Firewall) bool { return f.Slot == slot && f.Aside })
}

// checkFirewalls that every step which is one has its rules, and that no two are the same.
func (s Spec) checkFirewalls() error {
	bySlot, whose := map[uint32]bool{}, map[uint32]string{}
	for _, f := range s.Firewalls {
		if other, taken := whose[f.whose()]; taken {
			return fmt.Errorf("firewall %q cannot be told from firewall %q; call it otherwise", f.Name, other)
		}
		whose[f.whose()] = f.Name
		if !slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Act == Rules && step.Slot == f.Slot }) {
			return fmt.Errorf("firewall %s has no step: slot %d is none of a firewall's", f.Name, f.Slot)
		}
		bySlot[f.Slot] = true
	}
	for i, step := range s.Steps {
		if step.Act == Rules && !bySlot[step.Slot] {
			return fmt.Errorf("step %d is a firewall without rules", i)
		}
	}
	if len(s.Firewalls) > 0 && (s.Connections < LeastConnections || s.Connections > MostConnections) {
		return fmt.Errorf("firewalls that remember %d connections: %d to %d can be", s.Connections, LeastConnections, MostConnections)
	}
	return nil
}
