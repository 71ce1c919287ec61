package run

import (
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/traffic/proof"
)

// InlineState is a function without a namespace as it is now.
type InlineState struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// OneWay tells that what goes from the second endpoint to the first does not take its step.
	OneWay bool `json:"one_way,omitempty"`
	// State is up, partial or changed, as what it shares its program with is.
	State string `json:"state"`
	// West and East are the nodes between which packets take its step: of those with replicas, the function.
	West string `json:"west"`
	East string `json:"east"`
	// Stop tells that packets take its step at the ports of a node that is there for that, which is West and East.
	Stop bool `json:"stop,omitempty"`
	// Forward and Reverse are what it counted, marked or dropped of the packets of either
	// direction, since its program is there; absent where it does not act on them.
	Forward *StepState `json:"forward,omitempty"`
	Reverse *StepState `json:"reverse,omitempty"`
	// Rules are what those of a firewall decided, on both ways and since they are these, and
	// Dropped is what its policy did; nil where it accepts.
	Rules   []ruleset.Counter `json:"rules"`
	Dropped *ruleset.Dropped  `json:"policy_dropped,omitempty"`
	// Connections are those that a firewall knows, with others in its program, or that what translates knows,
	// with others of the chain; nil for other kinds.
	Connections *TableState `json:"connections,omitempty"`
	// Translations are what became of the connections that it translates, since it does so as it does now;
	// absent for other kinds.
	Translations []TranslationState `json:"translations,omitempty"`

	// behind is the node that is before it in the path: the last of its function's replicas.
	behind string
}

// TranslationState is how many connections were taken to an address, or given one.
type TranslationState struct {
	// Service is where they were sent to, and To where they were taken; empty of those that were hidden.
	Service string `json:"service,omitempty"`
	To      string `json:"to,omitempty"`
	// From is the address that they were given to come from; empty of those that were taken somewhere.
	From        string `json:"from,omitempty"`
	Connections uint64 `json:"connections"`
}

// TableState is how many connections are known, or flows, how many can be, and how many had to make room for others: packets of these are met
// as the first ones. What translates knows each connection by either way, and what made room comes back with a packet of the other.
type TableState struct {
	Known   uint64 `json:"known"`
	Most    uint32 `json:"most"`
	Evicted uint64 `json:"evicted"`
}

// InlineAfter are the functions without a namespace on the hop behind the node of that place, or at a stop there.
func (s State) InlineAfter(node int) (all []InlineState) {
	for _, f := range s.Inline {
		if f.behind == s.Nodes[node].Name {
			all = append(all, f)
		}
	}
	return all
}

// between reads the passes at a forwarder's ports, by the IDs of their resources. One that is
// not there is left out.
func between(p *plan.Plan) (map[string]*PassState, error) {
	all := map[string]*PassState{}
	own := p.Between()
	if len(p.Inline) == 0 || !netns.Exists(own) {
		return all, nil
	}
	h, err := netns.Open(own)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	for _, r := range p.Resources {
		spec, is := r.Spec.(pass.Spec)
		if !is || r.Namespace != own {
			continue
		}
		s, err := passAt(at, spec)
		if err != nil {
			return nil, err
		}
		if s != nil {
			all[r.ID] = s
		}
	}
	return all, nil
}

// inlineOf a chain, with what the passes counted.
func inlineOf(p *plan.Plan, passes map[string]*PassState) []InlineState {
	all, behind := []InlineState{}, map[string]string{}
	for _, n := range p.Nodes {
		behind[n.Function()] = n.Name
	}
	for _, f := range p.Inline {
		all = append(all, InlineState{behind: behind[f.West], Name: f.Name, Kind: f.Kind, OneWay: f.OneWay, State: StateUp, West: f.West, East: f.East, Stop: f.Stop,
			Forward: stepOf(f.Name, f.Forward, passes), Reverse: stepOf(f.Name, f.Reverse, passes), Rules: []ruleset.Counter{}})
	}
	return all
}

// decided reads what the rules of firewalls that are inline decided, and what others translated.
func (s *State) decided(p *plan.Plan) error {
	if len(p.Inline) == 0 || !netns.Exists(p.Between()) {
		return nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return err
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	for i, f := range p.Inline {
		if err := s.Inline[i].translated(p, f, at); err != nil {
			return err
		}
		spec, rules := f.Firewall(p)
		if rules == nil {
			continue
		}
		if err := s.Inline[i].judged(spec, *rules, at); err != nil {
			return err
		}
	}
	return nil
}

// judged reads what the rules of a firewall decided, at the first of its interfaces that is there.
func (s *InlineState) judged(spec pass.Spec, rules pass.Firewall, at resource.Place) error {
	for _, device := range append([]string{spec.Device}, spec.Beside...) {
		c, found, err := pass.RulesAt(at, device, rules)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		s.Rules, s.Dropped = c.Rules, c.Dropped
		known, _, err := pass.ConnectionsAt(at, device)
		s.Connections = &TableState{Known: known.Held, Most: spec.Connections, Evicted: known.Evicted}
		return err
	}
	return nil
}

// translated reads what a function translated, if it does that.
func (s *InlineState) translated(p *plan.Plan, f plan.Inline, at resource.Place) error {
	spec, n := f.NAT(p)
	if n == nil {
		return nil
	}
	t, found, err := pass.TranslatedAt(at, spec, n.Slot)
	if err != nil || !found {
		return err
	}
	s.Connections = &TableState{Known: (t.Held + 1) / 2, Most: spec.Connections, Evicted: (t.Evicted + 1) / 2}
	for _, r := range n.Rules {
		for _, to := range r.Targets {
			state := TranslationState{Service: r.Service(), To: to.Address.String(), Connections: t.Taken[0]}
			if r.Source {
				state.Service, state.To, state.From = "", "", to.Address.String()
			}
			s.Translations, t.Taken = append(s.Translations, state), t.Taken[1:]
		}
	}
	return nil
}

// stepOf a function in its pass, if that is there.
func stepOf(function string, at *plan.Taken, passes map[string]*PassState) *StepState {
	in := passOf(at, passes)
	if in == nil {
		return nil
	}
	for _, s := range in.Steps {
		if s.Function == function {
			return &s
		}
	}
	return nil
}

// passOf a step: the pass that a step is in, which counts for all that are one with it; nil if none is there.
func passOf(at *plan.Taken, passes map[string]*PassState) *PassState {
	for _, id := range at.All() {
		if s := passes[id]; s != nil {
			return s
		}
	}
	return nil
}

// inlineDrift notes which functions that are inline are not as planned.
func (s *State) inlineDrift(p *plan.Plan, changes []resource.Change) {
	for i, f := range p.Inline {
		d := noDrift()
		for _, c := range changes {
			if slices.Contains(f.Forward.All(), c.ID) || slices.Contains(f.Reverse.All(), c.ID) {
				d.add(c)
			}
		}
		s.Inline[i].State = d.State()
	}
}

// met is an error of type *[proof.Error] unless to each function that is inline came at least
// as many packets, since its pass was read before, as the proof of path sends each way.
func met(p *plan.Plan, on *plan.Path, protocol string, before map[string]*PassState) error {
	after, err := between(p)
	if err != nil {
		return err
	}
	fail := &proof.Error{Protocol: protocol, Sent: proof.Rounds}
	var names []string
	for _, f := range p.Inline {
		if on != nil && !slices.Contains(on.Functions, f.Name) || (on == nil || on.Branched) && !p.Always(f.West) {
			continue // packets may have gone another way
		}
		seen := proof.Seen{Function: f.Name, Forward: cameTo(f.Forward, before, after), Reverse: cameTo(f.Reverse, before, after)}
		if on != nil && !on.ReturnsBy(f) {
			seen.Reverse = proof.Rounds // none are to
		}
		if seen.Forward < proof.Rounds || seen.Reverse < proof.Rounds {
			fail.Missed, names = append(fail.Missed, seen), append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	fail.Reason = "traffic does not pass " + strings.Join(names, ", ")
	return fail
}

// cameTo a pass between two readings, as many packets as the proof of path sends at most; so
// many also where a function does not act.
func cameTo(at *plan.Taken, before, after map[string]*PassState) int {
	if at == nil {
		return proof.Rounds
	}
	a, b := passOf(at, before), passOf(at, after)
	if a == nil || b == nil || b.Came.Packets < a.Came.Packets {
		return 0
	}
	return int(min(b.Came.Packets-a.Came.Packets, proof.Rounds))
}
