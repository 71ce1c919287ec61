package deploy_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

const refuses = "kind: firewall, group: box, firewall: {BACKEND rules: {list: [{protocol: udp, destination_port: 7, action: drop, comment: echo}]}}}"

// TestGroup has firewalls and shapers share one namespace. What all of the firewalls drop
// the first in the chain's order counts, and on the way back the last.
func TestGroup(t *testing.T) {
	needs(t)
	second := strings.Replace(refuses, "BACKEND", "backend: iptables,", 1)
	first := strings.Replace(refuses, "BACKEND", "", 1)
	p := planned(t, nstest.Owner(t), spec(
		"{name: back, kind: shaper, direction: reverse, group: box, shaper: {rate: 1Gbit}}",
		"{name: one, "+first, "{name: two, "+second, "{name: three, "+first,
		"{name: there, kind: shaper, direction: forward, group: box, shaper: {discipline: tbf, rate: 2Gbit}}"))
	downAfter(t, p.Chain)
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	if len(p.Nodes) != 3 {
		t.Fatalf("nodes %+v", p.Nodes)
	}
	box := p.Nodes[1]
	if left := sh(t, "tc -n "+box.Namespace+" qdisc show dev "+box.West.Device); !strings.Contains(left, "htb") {
		t.Errorf("towards the client there is no shaper: %s", left)
	}
	if right := sh(t, "tc -n "+box.Namespace+" qdisc show dev "+box.East.Device); !strings.Contains(right, "tbf") {
		t.Errorf("towards the server there is no shaper: %s", right)
	}
	sent := 0
	for _, way := range []struct {
		from, to plan.Node
		counts   string
	}{{p.Client(), p.Server(), "one"}, {p.Server(), p.Client(), "three"}} {
		for _, at := range addresses(p, way.from.Name, way.to.Name) {
			before := echoes(t, p)
			sent++
			var after map[string]uint64
			for again, dropped := true, uint64(0); again; { // where another test floods this machine it may drop one
				dropped = nstest.Dropped(t)
				datagram(t, way.from.Namespace, netip.AddrPortFrom(at, 7))
				after = counting(t, p, sent)
				again = maps.Equal(after, before) && nstest.Dropped(t) > dropped
			}
			for name := range after {
				if want := before[name] + map[bool]uint64{true: 1}[name == way.counts]; after[name] != want {
					t.Errorf("from %s: %s counted %d, want %d; all: %v", way.from.Name, name, after[name], want, after)
				}
			}
		}
	}
	p2 := planned(t, p.Chain, spec("{name: one, "+strings.Replace(first, ", group: box", "", 1), "{name: two, "+second))
	up(t, p2)
	unchanged(t, p2)
	crosses(t, p2)
}

func datagram(t *testing.T, ns string, to netip.AddrPort) {
	t.Helper()
	inside(t, ns, func() error {
		conn, err := net.Dial("udp", to.String())
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte("hello"))
		return errors.Join(err, conn.Close())
	})
}

// counting waits until the firewalls of a group have counted so many together.
func counting(t *testing.T, p *plan.Plan, sent int) map[string]uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	for {
		sum, counts := uint64(0), echoes(t, p)
		for _, n := range counts {
			sum += n
		}
		if sum >= uint64(sent) || ctx.Err() != nil {
			return counts
		}
		time.Sleep(time.Millisecond)
	}
}

// echoes are what the rules called so have counted, by function.
func echoes(t *testing.T, p *plan.Plan) map[string]uint64 {
	t.Helper()
	box, counts := p.Nodes[1], map[string]uint64{}
	h, err := netns.Open(box.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	for _, r := range p.Resources {
		s, is := r.Spec.(ruleset.Spec)
		if !is {
			continue
		}
		counters, err := ruleset.Count(at, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range counters.Rules {
			if c.Comment == "echo" {
				counts[box.Maker(r.ID).Name] += c.Packets
			}
		}
	}
	return counts
}
