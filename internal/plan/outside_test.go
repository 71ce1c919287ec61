package plan_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/macvlan"
)

// TestOutsideBehindOnePort: all interfaces of the ends are behind one port, those of the
// direct hop too, and what comes in there may leave there only where ends meet.
func TestOutsideBehindOnePort(t *testing.T) {
	const outside = "outside: true\n"
	for _, c := range []struct {
		spec          string
		direct, turns bool
		behind        int
	}{
		{"wiring: bridge\nbridge: {per: chain}\n" + plantest.Forwards(2), false, false, 2},
		{"wiring: bridge\nbridge: {per: chain}\n" + plantest.Forwards(2), true, true, 4},
		{"wiring: bridge\nbridge: {per: ends}\n" + plantest.Forwards(3), true, true, 4},
		{"wiring: bridge\nbridge: {per: chain, arms: 1}\n" + plantest.Forwards(1), false, false, 2},
		{"wiring: bridge\nbridge: {per: chain}\nfunctions: []\n", false, true, 2},
	} {
		p := made(t, outside+c.spec, plan.Facts{}, plan.Options{Direct: c.direct})
		sound(t, p)
		ends, parents, cards := 0, map[string]bool{}, 0
		for _, r := range p.Resources {
			switch s := r.Spec.(type) {
			case macvlan.Spec:
				ends++
				parents[s.Parent.Device] = true
			case bridge.PortSpec:
				if len(s.Also) > 0 {
					cards++
					if s.Hairpin != c.turns || len(s.Also)+1 != c.behind {
						t.Errorf("%s: the port is %+v", c.spec, s)
					}
				}
			}
		}
		if ends != c.behind || len(parents) != 1 || cards != 1 {
			t.Errorf("%s: %d devices of ends over %v, %d ports for them", c.spec, ends, parents, cards)
		}
	}
}

// TestOutsideOnCard: functions and ends are at the two sides of one card; what ends send
// each other directly is sent back by a pair of its own.
func TestOutsideOnCard(t *testing.T) {
	p := made(t, "wiring: macvlan\noutside: true\n"+plantest.Forwards(2), plan.Facts{}, plan.Options{Direct: true})
	sound(t, p)
	over := map[string][]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(macvlan.Spec); is {
			over[s.Parent.Device+" "+s.Mode] = append(over[s.Parent.Device+" "+s.Mode], s.Node)
		}
	}
	if len(over) != 3 || len(over["card bridge"]) != 4 || len(over["wire vepa"]) != 2 {
		t.Error(over)
	}
}

// TestOutsideRefused where there is no port for it, with what to write instead.
func TestOutsideRefused(t *testing.T) {
	for spec, says := range map[string]string{
		"wiring: veth\n":   "use wiring: bridge or macvlan or ovs",
		"wiring: bridge\n": "use per: chain, or per: ends",
		"wiring: ovs\n":    "use per: chain",
		"wiring: macvlan\nmacvlan: {parent: eth0}\n":  "leave one of them out",
		"wiring: macvlan\nmacvlan: {mode: private}\n": "use mode: bridge",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec+"outside: true\n"+plantest.Forwards(1)), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), "outside: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}
