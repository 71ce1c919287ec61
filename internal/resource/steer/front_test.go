package steer_test

import (
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// marked is the path of all that branches lead.
const marked = "marked"

// fronted are ports where ways part, and at both ends of them rules that let flows of some numbers go straight. Of others, what has no
// mark goes by the second node.
func fronted(hook string, straight uint16, rules bool) []steer.Spec {
	all := branches(hook)
	all[0].Branch.Ways = []steer.BranchWay{way(1, false), way(2, false), way(3, true)}
	all[3].Branch.Ways = []steer.BranchWay{way(1, false), way(2, false), way(0, false)}
	c := &steer.Choice{Otherwise: marked}
	if straight > 0 {
		c.Rules = []steer.Rule{{Name: "straight", Protocol: "udp", SourcePorts: []api.PortRange{{First: 1024, Last: 1023 + straight}}, From: steer.FirstEnd}}
	}
	for end, i := range map[int]int{steer.FirstEnd: 0, steer.SecondEnd: 3} {
		all[i].To = all[i].Branch.Ways[0].Port
		if rules {
			all[i].Paths = &steer.Paths{Ways: []steer.Way{{Path: marked, Number: 9, Behind: true}, {Number: 3, Port: parted[3-i]}}, Choice: c, End: end, Flows: 1 << 14, Idle: api.Duration(time.Hour)}
		}
	}
	return all
}

// comesBy tells that flows come from the first end to a node with a mark, and that their answers go back there from the second.
func (p *parter) comesBy(t *testing.T, what string, mark, node int, all ...flow) {
	t.Helper()
	for _, f := range all {
		back := f
		back.back = true
		if at := p.sends(t, 0, mark, f.packet); at != node {
			t.Errorf("%s: %+v with mark %#x comes to %s, want %s", what, f, mark, parted[at], parted[node])
		}
		from := node
		if node != 3 {
			if at := p.sends(t, node, 0, f.packet); at != 3 {
				t.Errorf("%s: %+v comes from %s to %s", what, f, parted[node], parted[at])
			}
		} else {
			from = 0
		}
		for name, packet := range map[string]func(uint32) []byte{"an answer": back.packet, "an error": f.complaint} {
			if at := p.sends(t, 3, 0, packet); at != from {
				t.Errorf("%s: %s of %+v goes back to %s, want %s", what, name, f, parted[at], parted[from])
			}
		}
	}
}

// TestRulesBeforeBranches let some flows go straight, both ways and whatever their marks are, and others by their marks; flows that are
// known stay where they are when rules are others, and branches are as they were when there are no rules any more.
func TestRulesBeforeBranches(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p := newParter(t, fronted(hook, 10, true))
		both := func(what string) {
			t.Helper()
			p.comesBy(t, what, 0, 3, flows(0, 2)...)
			p.comesBy(t, what, 0x20, 3, flows(2, 4)...)
			p.comesBy(t, what, 0, 1, flows(10, 12)...)
			p.comesBy(t, what, 0x20, 2, flows(12, 14)...)
		}
		both("rules")
		for name, packet := range map[string]func(uint32) []byte{
			"arp": func(n uint32) []byte { return frame(broadcast, []byte{8, 6}, 60, n) }, "cut off": func(n uint32) []byte { return frame(stranger, []byte{8, 0}, 60, n) },
		} {
			if at := p.sends(t, 0, 0x20, packet); at != 2 {
				t.Errorf("%s comes to %s", name, parted[at])
			}
		}
		at := resource.At(p.Handle, p.Owner)
		all, err := steer.Count(at)
		ahead, wrong := steer.CountAhead(at)
		if err != nil || wrong != nil || ahead["tell"].Packets < 8 || ahead["out"].Packets < 16 || all["tell"].Packets < ahead["tell"].Packets+8 || len(ahead) != 2 {
			t.Errorf("counted %v, of which %v went straight, errors %v, %v", all, ahead, err, wrong)
		}
		c := p.counts(t, fronted(hook, 10, true))
		if c.ByPath[3].Known != 8 || c.ByPath[9].Known != 8 || c.Moved != 0 || c.Unkept != 0 {
			t.Errorf("%+v", c)
		}
		p.to(t, steer.Kind{}, fronted(hook, 0, true))
		both("other rules")
		p.comesBy(t, "other rules, a new flow", 0x20, 2, flows(4, 6)...)
		p.to(t, steer.Kind{}, fronted(hook, 10, false))
		p.comesBy(t, "no rules", 0, 1, flows(0, 2)...)
		p.comesBy(t, "no rules", 0x20, 2, flows(12, 14)...)
		p.to(t, steer.Kind{}, fronted(hook, 10, true))
		both("rules again")
		for _, s := range fronted(hook, 10, true) {
			if err := (steer.Kind{}).Apply(resource.At(p.Handle, p.Owner), []resource.Change{{Op: resource.Delete, Key: s.Device}}); err != nil {
				t.Fatal(err)
			}
		}
		if left := p.read(t); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestRulesBeforeBranchesOfFunctions: a path by some of the nodes goes past the others, and what a program of a node opens goes on by branches.
func TestRulesBeforeBranchesOfFunctions(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		specs := fronted(hook, 10, true)
		for _, i := range []int{0, 3} { // the path goes by the second node, from which it leads to the third
			ways := specs[i].Paths.Ways
			ways[1] = steer.Way{Path: "one two", Number: 3, Port: parted[map[int]int{0: 1, 3: 2}[i]]}
			for j := range specs[i].Paths.Choice.Rules {
				specs[i].Paths.Choice.Rules[j].Path = "one two"
			}
		}
		inner := func(i, to int) {
			specs[i].Paths = &steer.Paths{Ways: []steer.Way{{Path: marked, Number: 9, Behind: true}, {Path: "one two", Number: 3, Port: parted[to]}}, Usual: marked, Opens: true, Flows: 1 << 14, Idle: api.Duration(time.Hour)}
		}
		inner(1, 2)
		inner(2, 1)
		p := newParter(t, specs)
		for _, f := range flows(0, 3) {
			for _, c := range []struct{ from, to int }{{0, 1}, {1, 2}, {3, 2}, {2, 1}} {
				packet := f
				packet.back = c.from == 3 || c.from == 2
				if at := p.sends(t, c.from, 0x20, packet.packet); at != c.to {
					t.Errorf("%+v comes from %s to %s, want %s", packet, parted[c.from], parted[at], parted[c.to])
				}
			}
		}
		p.comesBy(t, "others", 0x20, 2, flows(10, 12)...)
		own, answer := flow{id: 50}, flow{id: 50, back: true}
		if at := p.sends(t, 1, 0, own.packet); at != 3 {
			t.Errorf("what a node opens comes to %s", parted[at])
		}
		if at := p.sends(t, 3, 0, answer.packet); at != 1 {
			t.Errorf("the answer to it comes to %s", parted[at])
		}
	})
}

// TestFrontsGoLast: while ends give a path, and until all of them know other rules, each port between functions leads it as it did.
func TestFrontsGoLast(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		by := func(path string) []steer.Spec {
			specs := fronted(hook, 10, true)
			for i, to := range map[int]int{0: 1, 3: 2} {
				specs[i].Paths.Ways[1] = steer.Way{Path: path, Number: 3, Port: parted[to]}
				specs[i].Paths.Choice.Rules[0].Path = path
			}
			return specs
		}
		before := by("one two")
		for i, to := range map[int]int{1: 2, 2: 1} {
			before[i].Paths = &steer.Paths{Ways: []steer.Way{{Path: marked, Number: 9, Behind: true}, {Path: "one two", Number: 3, Port: parted[to]}}, Usual: marked, Flows: 1 << 14, Idle: api.Duration(time.Hour)}
		}
		p := newParter(t, before)
		known := flow{id: 0}
		leads := func(what string, to int) {
			t.Helper()
			if at := p.sends(t, 1, 0, known.packet); at != to {
				t.Errorf("%s: it comes from one to %s, want %s", what, parted[at], parted[to])
			}
		}
		if at := p.sends(t, 0, 0, known.packet); at != 1 {
			t.Errorf("it comes to %s", parted[at])
		}
		leads("rules", 2)
		after := fronted(hook, 10, true)
		changes := func(all []steer.Spec) (changes []resource.Change) {
			for _, s := range all {
				changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
			}
			return changes
		}
		failing := fronted(hook, 10, true)
		failing[0].Paths.Ways[1].Port = "gone"
		if err := (steer.Kind{}).Apply(resource.At(p.Handle, p.Owner), changes(failing)); err == nil {
			t.Fatal("an end was turned to a port that is not there")
		}
		leads("before ends are turned", 2)
		p.to(t, steer.Kind{}, after)
		leads("other rules", 3)
	})
}

// TestRulesComeToPorts that had them for all, and go again: flows keep their path.
func TestRulesComeToPorts(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p := newParter(t, fronted(hook, 10, true))
		before := fronted(hook, 10, true)
		plainly := fronted(hook, 10, true)
		for i := range plainly {
			if s := &plainly[i]; s.Paths != nil { // as in a chain without branches: the path leads by a port
				s.To, s.Branch = "", nil
				s.Paths.Ways[0] = steer.Way{Path: marked, Number: 9, Port: "one"}
			}
		}
		p.comesBy(t, "by branches", 0x20, 2, flows(12, 14)...)
		p.comesBy(t, "by branches", 0, 3, flows(0, 2)...)
		p.to(t, steer.Kind{}, plainly)
		p.comesBy(t, "without", 0, 3, flows(0, 2)...)
		p.comesBy(t, "without", 0x20, 1, flows(12, 14)...)
		p.to(t, steer.Kind{}, before)
		p.comesBy(t, "by branches again", 0x20, 2, flows(12, 14)...)
		p.comesBy(t, "by branches again", 0, 3, flows(0, 2)...)
		if c := p.counts(t, before); c.Moved != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// past has the packets of a path go from a port to another one than the planned one.
func past(t *testing.T, at resource.Place, path, from, to string) {
	t.Helper()
	other, err := steer.OpenPort(at, to)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	port, err := steer.OpenPort(at, from)
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	if err := port.SetInsteadOn(path, len(path), other.Number); err != nil {
		t.Fatal(err)
	}
}

// TestRulesGoLast: until both ends know of it, ports between functions lead paths as they did where rules go altogether, and where ways
// begin or cease to part besides. What one end cannot be turned to shows how it is then.
func TestRulesGoLast(t *testing.T) {
	// rules that have flows of some numbers go from the first end by two nodes, and others by all that branches lead, or by a path of its own.
	rules := func(all []steer.Spec, some, rest string, behind bool) []steer.Spec {
		for end, i := range map[int]int{steer.FirstEnd: 0, steer.SecondEnd: 3} {
			c := &steer.Choice{Otherwise: rest, Rules: []steer.Rule{{Name: "some", Path: some, Protocol: "udp", SourcePorts: []api.PortRange{{First: 1024, Last: 1033}}, From: steer.FirstEnd}}}
			other := steer.Way{Path: rest, Number: len(rest), Behind: behind}
			if !behind {
				all[i].To, all[i].Branch, other.Port = "", nil, parted[map[int]int{0: 1, 3: 1}[i]]
			}
			all[i].Paths = &steer.Paths{Ways: []steer.Way{other, {Path: some, Number: len(some), Port: parted[map[int]int{0: 1, 3: 2}[i]]}}, Choice: c, End: end, Flows: 1 << 14, Idle: api.Duration(time.Hour)}
		}
		for i, to := range map[int]int{1: 2, 2: 1} {
			other := steer.Way{Path: rest, Number: len(rest), Behind: behind}
			if !behind {
				all[i].To, all[i].Branch, other.Port = "", nil, "out"
			}
			all[i].Paths = &steer.Paths{Ways: []steer.Way{other, {Path: some, Number: len(some), Port: parted[to]}}, Usual: rest, Flows: 1 << 14, Idle: api.Duration(time.Hour)}
		}
		return all
	}
	none := func(hook string) []steer.Spec { return fronted(hook, 0, false) }
	plain := func(hook string) (all []steer.Spec) {
		for i, to := range []int{1, 3, 3, 1} {
			all = append(all, steer.Spec{Device: parted[i], To: parted[to], Hook: hook})
		}
		return all
	}
	begin := func(hook string) []steer.Spec { return rules(fronted(hook, 0, false), "one two", "all", true) }
	beginOthers := func(hook string) []steer.Spec {
		return rules(fronted(hook, 0, false), "some others", "everything", true)
	}
	cease := func(hook string) []steer.Spec { return rules(plain(hook), "one two", "all", false) }
	ceaseOthers := func(hook string) []steer.Spec { return rules(plain(hook), "some others", "everything", false) }
	const takenOver = "a path has the number of one that is no more"
	for _, c := range []struct {
		what         string
		was, is      func(hook string) []steer.Spec
		parts, joins bool // before, and then
	}{
		{"rules before branches go", begin, none, true, true},
		{"rules go", cease, plain, false, false},
		{"rules go and branches come", cease, none, false, true},
		{"branches come with other functions", cease, beginOthers, false, true},
		{"branches go with other functions", begin, ceaseOthers, true, false},
		{takenOver, cease, func(hook string) []steer.Spec { return rules(plain(hook), "two one", "all", false) }, false, false},
		{"before branches, " + takenOver, begin, func(hook string) []steer.Spec { return rules(fronted(hook, 0, false), "two one", "all", true) }, true, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			onHooks(t, func(t *testing.T, hook string) {
				p := newParter(t, c.was(hook))
				some, other := flow{id: 0}, flow{id: 50}
				leads := func(what string, f flow, from, to int) {
					t.Helper()
					if at := p.sends(t, from, 0x20, f.packet); at != to {
						t.Errorf("%s: %+v comes from %s to %s, want %s", what, f, parted[from], parted[at], parted[to])
					}
				}
				known := func(what string) {
					t.Helper()
					answer := some
					answer.back = true
					leads(what, some, 0, 1)
					leads(what, some, 1, 2)
					leads(what, answer, 3, 2)
					leads(what, answer, 2, 1)
				}
				rest := func(what string, parts bool) {
					t.Helper()
					leads(what, other, 0, map[bool]int{true: 2, false: 1}[parts])
				}
				known("before")
				rest("before", c.parts)
				at, changes := resource.At(p.Handle, p.Owner), []resource.Change{}
				beyond := 2
				if c.what == takenOver { // and what it was led to fails meanwhile
					beyond = 3
					past(t, at, "one two", parted[1], parted[beyond])
					leads("past what fails", some, 1, beyond)
				}
				for i, s := range c.is(hook) {
					if i == 0 { // the end that is turned last
						if s.Paths != nil {
							s.Paths.Ways[1].Port = "gone"
						} else {
							s.To, s.Branch = "gone", nil
						}
					}
					changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
				}
				changes[0], changes[3] = changes[3], changes[0]
				if err := (steer.Kind{}).Apply(at, changes); err == nil {
					t.Fatal("an end was turned to a port that is not there")
				}
				leads("before both ends are turned", some, 0, 1)
				leads("before both ends are turned", some, 1, beyond)
				if strings.HasSuffix(c.what, takenOver) {
					leads("before both ends are turned", flow{back: true}, 3, 2)
				}
				rest("before both ends are turned", c.parts)
				p.to(t, steer.Kind{}, c.is(hook))
				rest("then", c.joins)
				if found := p.read(t); len(found) != len(parted) {
					t.Errorf("%v", found)
				} else {
					for _, s := range c.is(hook) {
						if found[s.Device] != s.Fingerprint() {
							t.Errorf("%s reads back %q, want %q", s.Device, found[s.Device], s.Fingerprint())
						}
					}
				}
			})
		})
	}
}
