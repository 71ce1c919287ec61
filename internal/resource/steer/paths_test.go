package steer_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// pathNames lead to the first, the second and the third node.
var pathNames = []string{"a", "a b", ""}

func waysTo(paths ...string) (all []steer.Way) {
	for i, p := range pathNames {
		if slices.Contains(paths, p) {
			all = append(all, steer.Way{Path: p, Number: 10*i + 7, Port: shared[i+1]})
		}
	}
	return all
}

// classified are the ports of both ends, with rules.
func classified(hook string, c steer.Choice, ways []steer.Way) []steer.Spec {
	var all []steer.Spec
	for i, port := range []string{"west", "east"} {
		all = append(all, steer.Spec{Device: port, Hook: hook, Paths: &steer.Paths{Ways: ways, Choice: &c, End: i + 1, Flows: 1 << 14, Idle: api.Duration(time.Hour)}})
	}
	return all
}

// byIDs has flows of some numbers take paths.
func byIDs(limits map[string][2]uint16, otherwise string) (c steer.Choice) {
	for _, path := range pathNames {
		if l, is := limits[path]; is {
			c.Rules = append(c.Rules, steer.Rule{Name: "rule" + fmt.Sprint(len(c.Rules)), Path: path, Protocol: "udp", SourcePorts: []api.PortRange{{First: 1024 + l[0], Last: 1024 + l[1]}}, From: steer.FirstEnd})
		}
	}
	c.Otherwise = otherwise
	return c
}

func (d *dealer) classify(t testing.TB, specs ...steer.Spec) {
	t.Helper()
	d.Place = resource.At(d.Handle, d.Owner)
	var changes []resource.Change
	for _, s := range specs {
		changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
	}
	if err := (steer.Kind{}).Apply(d.Place, changes); err != nil {
		t.Fatal(err)
	}
	found := d.read(t)
	for _, s := range specs {
		if found[s.Device] != s.Fingerprint() {
			t.Fatalf("%s reads back %q, want %q", s.Device, found[s.Device], s.Fingerprint())
		}
	}
}

func (d *dealer) counts(t testing.TB, specs []steer.Spec) *steer.Classified {
	t.Helper()
	c, err := steer.ClassifiedBy(resource.At(d.Handle, d.Owner), specs)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	return c
}

// at tells whether flows that begin at the first end come to a place, and their answers.
func (d *dealer) at(t testing.TB, place int, all ...flow) {
	t.Helper()
	for _, f := range all {
		back := f
		back.back = true
		for _, packet := range []flow{f, back, f} {
			if n := d.comes(t, packet); n != place {
				t.Errorf("%+v came to %d, want %d", packet, n, place)
			}
		}
	}
}

// TestRulesGiveAPath to a flow by its first packet; the others and the answers have it too. Where rules are replaced,
// flows that are known stay on theirs, unless that is gone.
func TestRulesGiveAPath(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		specs := classified(hook, byIDs(map[string][2]uint16{"a": {0, 9}, "a b": {10, 19}}, ""), waysTo("a", "a b", ""))
		d.classify(t, specs...)
		at := func(place int, from, to uint16) {
			t.Helper()
			d.at(t, place, flows(from, to)...)
		}
		at(1, 0, 5)
		at(2, 10, 15)
		at(3, 20, 25)
		c := d.counts(t, specs)
		if c.New != 30 || c.Moved != 0 || c.Unkept != 0 || c.ByRule[0].Known != 10 || c.ByRule[1].Busy != 10 || c.ByRule[2].Known != 10 || c.Counted[0].Packets < 30 || c.Counted[2].Packets < 30 {
			t.Errorf("after flows of each rule: %+v", c)
		}
		specs = classified(hook, byIDs(map[string][2]uint16{"a b": {0, 19}}, "a"), waysTo("a", "a b", ""))
		d.classify(t, specs...)
		at(1, 0, 5)
		at(2, 5, 8)
		at(2, 10, 18)
		at(3, 20, 25)
		at(1, 25, 30)
		if c := d.counts(t, specs); c.Moved != 0 || c.ByRule[steer.Earlier].Known != 30 || c.ByRule[0].Known != 12 || c.ByRule[1].Known != 10 {
			t.Errorf("after the rules were replaced: %+v", c)
		}
		specs = classified(hook, byIDs(map[string][2]uint16{"a b": {0, 19}}, "a b"), waysTo("a b"))
		d.classify(t, specs...)
		at(2, 0, 5)
		at(2, 20, 30)
		if c := d.counts(t, specs); c.Moved != 10+20 {
			t.Errorf("after paths went: %+v", c)
		}
	})
}

// TestCountersAreOfTheRules that were asked for: others that count by now have counted nothing of these.
func TestCountersAreOfTheRules(t *testing.T) {
	d := newDealer(t)
	before := classified(itsHook(), byIDs(map[string][2]uint16{"a": {0, 9}}, ""), waysTo("a", "a b", ""))
	after := classified(itsHook(), byIDs(map[string][2]uint16{"a b": {0, 9}}, ""), waysTo("a", "a b", ""))
	d.classify(t, before...)
	d.at(t, 1, flows(0, 3)...)
	if c := d.counts(t, before); c.Counted[0].Packets == 0 || c.ByRule[0].Known == 0 {
		t.Errorf("%+v", c)
	}
	if c := d.counts(t, after); len(c.Counted) != 0 || c.ByRule[0].Known != 0 || c.ByRule[steer.Earlier].Known != 6 || c.New != 6 {
		t.Errorf("by other rules: %+v", c)
	}
}

// TestAnswersOfForgottenFlows go by the rule of what they answer, and both ways then, if none is for them alone.
func TestAnswersOfForgottenFlows(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		c := byIDs(map[string][2]uint16{"a": {0, 9}, "a b": {10, 19}}, "")
		specs := classified(hook, c, waysTo("a", "a b", ""))
		d.classify(t, specs...)
		for place, all := range map[int][]flow{1: flows(0, 3), 2: flows(10, 13), 3: flows(20, 23)} {
			for _, f := range all {
				f.back = true
				if n := d.comes(t, f); n != place {
					t.Errorf("%+v came to %d, want %d", f, n, place)
				}
			}
			d.at(t, place, all...)
		}
		if k := d.counts(t, specs); k.New != 18 || k.Moved != 0 {
			t.Errorf("%+v", k)
		}
		few := specs
		for i := range few {
			few[i].Paths.Flows /= 2 // a table of its own, which takes over what is known
		}
		for i := range few {
			few[i].Paths.Choice = &steer.Choice{Otherwise: "a b"}
		}
		d.classify(t, few...)
		d.at(t, 1, flows(0, 3)...)
		d.at(t, 3, flows(20, 23)...)
		d.at(t, 2, flows(30, 33)...)
	})
}

// TestDrop: what no rule matches may end where it comes in, and is no flow that is known.
func TestDrop(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		c := byIDs(map[string][2]uint16{"a": {0, 9}}, "")
		c.Drop = true
		specs := classified(hook, c, waysTo("a"))
		d.classify(t, specs...)
		for deadline := time.Now().Add(time.Minute); d.counts(t, specs).Counted[1].Packets < 10 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			d.number++ // again where another test floods this machine
			d.west.send(t, flow{id: 50}.packet(d.number))
			d.east.send(t, flow{id: 50, back: true}.packet(d.number))
		}
		d.at(t, 1, flows(0, 3)...)
		if c := d.counts(t, specs); c.New != 6 || c.ByRule[1].Known != 0 || c.Counted[1].Packets < 10 {
			t.Errorf("%+v", c)
		}
	})
}

// TestBetween: a port between functions sends a flow on by its path, and one that is on none that leads on the usual
// way. Behind a function that translates, flows are of the usual path from then on.
func TestBetween(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		direct := ""
		inner := steer.Spec{Device: "third", Hook: hook, Paths: &steer.Paths{Ways: []steer.Way{{Path: "a", Number: 7, Port: "first"}, {Path: "a b", Number: 17, Port: "second"}}, Usual: "a b", Other: &direct, Flows: 1 << 14, Idle: api.Duration(time.Hour)}}
		specs := append(classified(hook, byIDs(map[string][2]uint16{"a": {0, 9}, "a b": {10, 19}}, ""), waysTo("a", "a b", "")), inner)
		d.classify(t, specs...)
		third := d.wire(t, 3)
		comes := func(f flow, want int) {
			t.Helper()
			d.number++
			for range 30 {
				third.send(t, f.packet(d.number))
				for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
					if n := d.where(t, d.number); n > 0 {
						if n != want {
							t.Errorf("%+v came to %d, want %d", f, n, want)
						}
						return
					}
				}
			}
			t.Errorf("%+v does not come", f)
		}
		d.at(t, 1, flows(0, 3)...)
		d.at(t, 2, flows(10, 13)...)
		d.at(t, 3, flows(20, 23)...)
		comes(flow{id: 1}, 1)
		comes(flow{id: 11}, 2)
		comes(flow{id: 21}, 2)                         // direct, and yet here
		comes(flow{id: 400}, 2)                        // of nobody
		comes(flow{id: 401, back: true}, 2)            // neither
		for _, packet := range ofTheLink(0xdead0000) { // a function's own: no flow
			third.pass(t, packet, d.replicas[1])
		}
		d.at(t, 3, flow{id: 21}, flow{id: 400}, flow{id: 401}) // what rules say of them counts
		if c := d.counts(t, specs); c.Unknown != 3 || c.Moved != 0 {
			t.Errorf("%+v", c)
		}
		inner.Paths.Opens = true
		specs[2] = inner
		d.classify(t, inner)
		comes(flow{id: 402}, 2)
		d.at(t, 2, flow{id: 402})
		inner.Paths.Opens, inner.Paths.Learns = false, true
		specs[2] = inner
		d.classify(t, inner)
		comes(flow{id: 21}, 2)
		d.at(t, 2, flow{id: 21})
		if c := d.counts(t, specs); c.Moved != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// TestPlainAndBack: a port begins to choose paths, and no longer, and counts on; rules may need more room than there is.
func TestPlainAndBack(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		few := byIDs(map[string][2]uint16{"a": {0, 9}}, "a b")
		many := few
		for i := range 5000 {
			many.Rules = append(many.Rules, steer.Rule{Name: fmt.Sprintf("r%d", i), Path: "a b", Sources: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 1}), 32)}})
		}
		many.Rules = append(many.Rules, steer.Rule{Name: "last", Path: "", Protocol: "udp", SourcePorts: []api.PortRange{{First: 1024 + 30, Last: 1024 + 39}}})
		step := uint16(0)
		takes := func(c steer.Choice, last int) {
			t.Helper()
			d.classify(t, classified(hook, c, waysTo("a", "a b", ""))...)
			d.at(t, 1, flows(step, step+2)...) // new ones each time
			d.at(t, 2, flows(200+step, 202+step)...)
			d.at(t, last, flows(30+step, 32+step)...)
			step += 2
		}
		takes(few, 2)
		takes(many, 3)
		takes(few, 2)
		d.classify(t, steer.Spec{Device: "west", To: "third", Hook: hook}, steer.Spec{Device: "east", To: "third", Hook: hook})
		d.at(t, 3, flows(500, 503)...)
		takes(many, 3)
	})
}

// TestTagsAndClasses of packets are asked for as well, alone and together.
func TestTagsAndClasses(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.classify(t, classified(hook, steer.Choice{Rules: []steer.Rule{
			{Name: "both", Path: "a b", CodePoints: []uint8{46}, VLANs: []api.VLANRange{{First: 5, Last: 7}}},
			{Name: "tag", Path: "a", VLANs: []api.VLANRange{{First: 7, Last: 7}, {First: 4094, Last: 4094}}},
			{Name: "none", Path: "", CodePoints: []uint8{10, 46}, VLANs: []api.VLANRange{{First: api.Untagged, Last: api.Untagged}}},
		}, Otherwise: "a b"}, waysTo("a", "a b", ""))...)
		for i, c := range []struct{ tag, code, want int }{
			{-1, 0, 2}, {-1, 10, 3}, {-1, 46, 3}, {7, 0, 1}, {7, 46, 2}, {5, 46, 2}, {5, 10, 2}, {4094, 10, 1}, {0, 10, 2},
		} {
			for _, six := range []bool{false, true} {
				d.number++
				packet := flow{id: uint16(i), six: six}.packet(d.number)
				if six {
					packet[14], packet[15] = 0x60|byte(c.code>>2), byte(c.code<<6)
				} else {
					packet[15] = byte(c.code << 2)
				}
				if c.tag >= 0 {
					packet = slices.Insert(packet, 12, 0x81, 0, byte(c.tag>>8), byte(c.tag))
				}
				d.west.pass(t, packet, d.replicas[c.want-1])
			}
		}
	})
}

// TestTurnedOnAPath: packets of one path go elsewhere, or nowhere, while a node fails, those of others as
// before; what programs replace each other meanwhile, and numbers mean other paths, changes nothing for them.
func TestTurnedOnAPath(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		specs := classified(hook, byIDs(map[string][2]uint16{"a": {0, 9}, "a b": {10, 19}}, ""), waysTo("a", "a b", ""))
		d.classify(t, specs...)
		third := uint32(d.index(t, "third"))
		turn := func(path string, to uint32) {
			t.Helper()
			for _, port := range []string{"west", "east"} {
				d.port(t, port, func(p *steer.Port) error {
					if !p.ByPaths() {
						t.Errorf("%s does not know paths", port)
					}
					if err := p.SetInsteadOn(path, waysTo(path)[0].Number, to); err != nil {
						return err
					}
					if is, err := p.IsTurned(); err != nil || is != (to != 0) {
						t.Errorf("%s is turned %v, error %v; to %d", port, is, err, to)
					}
					return nil
				})
			}
		}
		ends := func(f flow) {
			t.Helper()
			for range 3 {
				d.number++
				d.west.send(t, f.packet(d.number))
				if at := d.where(t, d.number); at != 0 {
					t.Errorf("led nowhere, %+v came to %d", f, at)
				}
			}
		}
		d.at(t, 1, flows(0, 3)...)
		turn("a", third)
		d.at(t, 3, flows(0, 5)...)
		d.at(t, 2, flows(10, 13)...)
		d.classify(t, specs...) // as an `up` does meanwhile
		d.at(t, 3, flows(0, 5)...)
		turn("a", steer.Nowhere)
		dropped := nstest.Dropped(t)
		ends(flow{id: 1})
		ends(flow{id: 7})
		if c := d.came(t, 6); nstest.Amiss(t, c.Ended.Packets, 6, dropped) || c.Packets < 6+c.Ended.Packets {
			t.Errorf("6 packets ended, and others did not: %+v", c)
		}
		d.at(t, 2, flows(10, 13)...)
		other := waysTo("a b")[0]
		other.Number = waysTo("a")[0].Number // of the path that is turned
		c := byIDs(map[string][2]uint16{"a b": {0, 19}}, "a b")
		d.classify(t, classified(hook, c, []steer.Way{other})...)
		d.at(t, 2, flows(0, 3)...)
		d.classify(t, specs...)
		for _, port := range []string{"west", "east"} {
			d.port(t, port, func(p *steer.Port) error { return p.TurnBack() })
		}
		d.at(t, 1, flows(5, 8)...)
	})
}
