package pass

import (
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The maps of a program with firewalls.
const (
	rulesMemoryMap  = "rules_memory"
	rulesFlowsMap   = "rules_flows"
	rulesTalliesMap = "rules_tallies"
	rulesPartsMap   = "rules_parts"
	rulesCountedMap = "rules_counted"
	rulesCurrentMap = "rules_current"
	rulesAskedMap   = "rules_asked"
)

// knowing is a pass with firewalls or NATs: what they know, another can take over. The steps of a pass of
// another version are not known.
type knowing struct {
	steps   []Step
	maps    map[string]*ebpf.Map
	program *ebpf.Program
	// at is the interface where it was found; "" for one that was made here.
	at string
}

// same gives the step of the same firewall that asks the same rules.
func (k knowing) same(s Step) (Step, bool) {
	for _, of := range k.steps {
		if of.Act == Rules && of.asks(s) {
			return of, true
		}
	}
	return Step{}, false
}

// exact is same for rules that are asked, or not, in both, in the same slot.
func (k knowing) exact(s Step) (Step, bool) {
	of, has := k.same(s)
	return of, has && of.digest() == s.digest() && of.Slot == s.Slot
}

// areas of the rules' memory.
func (k knowing) areas() held.Areas {
	return held.Areas{Memory: k.maps[rulesMemoryMap], Current: k.maps[rulesCurrentMap]}
}

// follows tells whether it knows connections of one of these firewalls, whatever the rules. That of another version may.
func (k knowing) follows(steps []Step) bool {
	if k.steps == nil {
		return k.maps[rulesFlowsMap] != nil && asksRules(steps)
	}
	for _, of := range k.steps {
		for _, s := range steps {
			if of.Act == Rules && s.Act == Rules && of.whose() == s.whose() {
				return true
			}
		}
	}
	return false
}

// inOne finds the step of each firewall in the first of several passes that has them all.
func inOne(among []knowing, steps []Step, find func(knowing, Step) (Step, bool)) (of knowing, found []Step) {
next:
	for _, of := range among {
		found = found[:0]
		for _, s := range steps {
			if s.Act != Rules {
				continue
			}
			at, has := find(of, s)
			if !has {
				continue next
			}
			found = append(found, at)
		}
		return of, found
	}
	return knowing{}, nil
}

// knows tells whether one of the steps is a firewall or a NAT.
func knows(steps []Step) bool { return asksRules(steps) || translates(steps) }

// neighbours are the passes with firewalls or NATs that an owner has in a place, the latest first.
type neighbours struct {
	place resource.Place
	known []knowing
	ends  []func()
	asked bool
	// caught are tables, and those that caught up with them since all was loaded.
	caught map[[2]ebpf.MapID]bool
	// ahead are passes that are loaded and not put yet, by their interfaces.
	ahead map[string]*ready
}

// ready has all passes that have something in common loaded before the first is put: while some of those that have a table in common are replaced
// and others are not, each sees the packets of its way alone.
func (n *neighbours) ready(changes []resource.Change) error {
	n.ahead = map[string]*ready{}
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if c.Op == resource.Delete || !is || !s.ahead() || n.ahead[s.Device] != nil {
			continue
		}
		row := s.rowOf(changes)
		r, err := readied(n.place, row, n)
		if err != nil {
			return failed(n.place, s.Device, err)
		}
		for _, at := range row {
			n.ahead[at.Device] = r
		}
		n.ends = append(n.ends, r.close)
		if knows(s.Steps) {
			n.made(r.Loaded)
		} else {
			n.ends = append(n.ends, func() { _ = r.Close() })
		}
	}
	return nil
}

// beside a pass, which comes first if it has firewalls or NATs, are these.
func (n *neighbours) beside(old *attached) ([]knowing, error) {
	if n == nil {
		return nil, nil
	}
	others, err := n.all()
	if err != nil || old == nil {
		return others, err
	}
	if k, has := old.knows(); has {
		others = append([]knowing{k}, others...)
	}
	return others, nil
}

// all of them, as they were when it was first asked, and those that were made since.
func (n *neighbours) all() ([]knowing, error) {
	if n.asked {
		return n.known, nil
	}
	n.asked = true
	mine, err := n.place.Mine()
	if err != nil {
		return nil, err
	}
	for index, device := range mine {
		at, err := find(n.place, index)
		for _, a := range at {
			n.note(a, device)
		}
		if err != nil {
			return nil, err
		}
	}
	return n.known, nil
}

// note a pass, if it has firewalls or NATs that this version can go on with.
func (n *neighbours) note(a attached, device string) {
	k, has := a.knows()
	k.at = device
	if !has {
		a.Close()
		return
	}
	n.ends = append(n.ends, a.Close)
	n.known = append(n.known, k)
}

// made is a pass that was made here, of which this may be told twice: it knows what is newest.
func (n *neighbours) made(l *Loaded) {
	if slices.ContainsFunc(n.known, func(k knowing) bool { return k.program == l.Program }) {
		return
	}
	k, has := l.knows()
	if !has {
		_ = l.Close()
		return
	}
	n.ends = append(n.ends, func() { _ = l.Close() })
	n.known = append([]knowing{k}, n.known...)
}

// close what was opened and made.
func (n *neighbours) close() {
	for _, end := range n.ends {
		end()
	}
}

// knows what the firewalls and NATs of a pass do, if it has any.
func (a attached) knows() (k knowing, has bool) {
	h, err := a.read()
	if err != nil { // of another version
		return knowing{nil, a.Maps, a.Program.Program, ""}, a.Maps[natFlowsMap] != nil || a.Maps[rulesFlowsMap] != nil
	}
	return knowing{h.steps, a.Maps, a.Program.Program, ""}, knows(h.steps)
}

func (l *Loaded) knows() (k knowing, has bool) {
	return knowing{l.steps, l.maps, l.Program, ""}, knows(l.steps)
}
