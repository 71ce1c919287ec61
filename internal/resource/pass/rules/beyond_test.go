package rules_test

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// mostExtensions of IPv6 that programs look behind.
const mostExtensions = 8

// beyond tells whether a packet has more extensions than that, before it ends or is a fragment behind the first.
func beyond(b []byte) bool {
	if b[0]>>4 != 6 || len(b) < 40 {
		return false
	}
	extends := func(next byte) bool { return slices.Contains([]byte{0, 43, 44, 51, 60}, next) }
	next, at := b[6], 40
	end := min(len(b), 40+int(b[4])<<8+int(b[5]))
	for range mostExtensions {
		size := 2
		if next == 44 {
			size = 4
		}
		if !extends(next) || at+size > end {
			return false
		}
		h := b[at:]
		switch next {
		case 44:
			if h[2] != 0 || h[3]&^7 != 0 {
				return false
			}
			at += 8
		case 51:
			at += 4 * (int(h[1]) + 2)
		default:
			at += 8 * (int(h[1]) + 1)
		}
		next = h[0]
	}
	return extends(next)
}

// asksBehind tells whether any rule asks for what is behind IP.
func asksBehind(list []ruleset.Rule) bool {
	return slices.ContainsFunc(list, func(r ruleset.Rule) bool {
		return r.Protocol != "" || len(r.States) > 0 || r.SourcePorts != ruleset.Ports{} || r.DestinationPorts != ruleset.Ports{}
	})
}

// extended is a datagram of UDP to port 53 behind some extensions.
func extended(n int) []byte {
	udp := []byte{4, 0, 0, 53, 0, 8, 0, 0}
	return slices.Concat(framestest.IPv6(60, 0, 8*n+len(udp)), bytes.Repeat(framestest.Extension(60), n-1), framestest.Extension(17), udp)
}

// TestNothingGetsByBehindManyExtensions: of more than programs look behind, a packet is dropped and counted as such where a
// rule would ask for its transport; and where none does, or none is asked, it is not.
func TestNothingGetsByBehindManyExtensions(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFIngress)
	drops := func(m ruleset.Match) []ruleset.Rule { return []ruleset.Rule{{Match: m, Verdict: "drop"}} }
	dns := ruleset.Ports{First: 53, Last: 53}
	const none, policy = -1, 1 // besides the rule, which is 0
	for name, c := range map[string]struct {
		rules []ruleset.Rule
		aside bool
		// eight and nine extensions meet these.
		eight, nine int
		passes      bool
	}{
		"port":          {rules: drops(ruleset.Match{Protocol: "udp", DestinationPorts: dns}), eight: 0, nine: none},
		"another port":  {rules: drops(ruleset.Match{Protocol: "tcp", DestinationPorts: dns}), eight: policy, nine: none},
		"protocol":      {rules: drops(ruleset.Match{Protocol: "udp"}), eight: 0, nine: none},
		"state":         {rules: drops(ruleset.Match{States: []string{"new"}}), eight: 0, nine: none},
		"address":       {rules: drops(ruleset.Match{Source: netip.MustParsePrefix("2001:db9::/32")}), eight: policy, nine: policy, passes: true},
		"that address":  {rules: drops(ruleset.Match{Source: netip.MustParsePrefix("::/0")}), eight: 0, nine: 0},
		"aside, a port": {rules: drops(ruleset.Match{Protocol: "udp", DestinationPorts: dns}), aside: true, eight: none, nine: none, passes: true},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := pass.Load(pass.Spec{Steps: []pass.Step{pass.NewRules(5)}, Connections: connections,
				Firewalls: []pass.Firewall{{Slot: 5, Name: "inline", Policy: "accept", Rules: c.rules, Aside: c.aside}}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			here := inline{l}
			for _, of := range []struct {
				extensions, meets int
				passes            bool
			}{{mostExtensions, c.eight, c.eight != 0}, {mostExtensions + 1, c.nine, c.passes}} {
				p := extended(of.extensions)
				if beyond(p) != (of.extensions > mostExtensions) {
					t.Fatalf("the model does not tell %d extensions", of.extensions)
				}
				before, stepped := here.counted(t), dropsOf(t, l)
				if passed := here.accepts(t, p); passed != of.passes {
					t.Errorf("%d extensions: passed %t, want %t", of.extensions, passed, of.passes)
				}
				if got := counts(before, here.counted(t)); got != of.meets {
					t.Errorf("%d extensions meet rule %d, want %d", of.extensions, got, of.meets)
				}
				if dropped := dropsOf(t, l) > stepped; dropped == of.passes {
					t.Errorf("%d extensions: counted as dropped %t", of.extensions, dropped)
				}
			}
		})
	}
}

// dropsOf the firewall, by whatever.
func dropsOf(t *testing.T, l *pass.Loaded) uint64 {
	t.Helper()
	c, err := l.Counts()
	if err != nil {
		t.Fatal(err)
	}
	return c.Slots[5].Packets
}
