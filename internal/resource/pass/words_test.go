package pass

import (
	"net/netip"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

var _ resource.Worded = Spec{}

// TestWords of a pass are what each step does, with the rules of firewalls and NATs.
func TestWords(t *testing.T) {
	address := netip.MustParseAddr
	s := Spec{
		Device: "port1", Beside: []string{"past1"}, Of: []string{"wall", "nat", "tap", "voice"}, Flows: 16, Connections: 32, Taps: []string{"tap0"},
		Copied: map[string]Ends{"tap0": {Source: netip.MustParsePrefix("192.0.2.0/24")}},
		Steps:  []Step{NewRules(0), {Act: Translate, Slot: 1}, NewMirror(2, Copies{Every: 4, Protocol: 6, Port: 443, Ends: Ends{Source: netip.MustParsePrefix("192.0.2.0/24")}}), NewDSCP(3, 46), NewCount(4)},
		Firewalls: []Firewall{{Slot: 0, Name: "wall", Policy: "drop", Aside: true, Rules: []ruleset.Rule{
			{Match: ruleset.Match{Protocol: "tcp", DestinationPorts: ruleset.Ports{First: 80, Last: 80}}, Verdict: "accept", Counted: true}}}},
		NATs: []NAT{{Slot: 1, Name: "nat", Answers: true, Rules: []Translation{
			{Source: true, Targets: []Target{{Address: address("203.0.113.1")}}},
			{Address: address("203.0.113.80"), Protocol: 6, First: 80, Last: 80, Port: 8080, ByHash: true, Targets: []Target{{Address: address("10.0.0.1"), Weight: 2}, {Address: address("10.0.0.2")}}}}}},
	}
	want := []string{
		"wall: policy drop, lets this way pass", "wall: meta l4proto tcp th dport 80 accept",
		"nat: of answers", "nat: from 203.0.113.1", "nat: 203.0.113.80 tcp 80 to 10.0.0.1 (weight 2), 10.0.0.2 port 8080 by hash",
		"tap: mirror one of 4 IPv4 protocol 6 port 443 from 192.0.2.0/24 to tap0", "voice: dscp 46", "count",
		"buckets for 16 flows", "32 connections known at once", "also at past1"}
	if lines := s.Words(); !slices.Equal(lines, want) {
		t.Errorf("%q,\nwant %q", lines, want)
	}
}

// TestWordsOfSteps say what these were made with.
func TestWordsOfSteps(t *testing.T) {
	for want, s := range map[string]Step{
		"mark 0x5 of the bits 0xff":                                        NewMark(0, 5, 0xff),
		"drop one of 7":                                                    NewDrop(0, Share{Every: 7}),
		"drop 25 %, by dice 9":                                             NewDrop(0, Share{Below: 1 << 51, Dice: 9}),
		"limit 10 Mbit/s, burst 128KiB":                                    NewLimit(0, Bucket{Rate: 10e6, Burst: 128 << 10}),
		"limit 0.008 Mbit/s, burst 1B per flow":                            NewLimit(0, Bucket{Rate: LeastRate, Burst: 1, Per: Flow}),
		"limit 1e+06 Mbit/s, burst 4294967295B per source, /24 and /64":    NewLimit(0, Bucket{Rate: MostRate, Burst: MostBurst, Per: Source, Bits4: 24, Bits6: 64}),
		"limit 333.333 Mbit/s, burst 65537B per destination, /32 and /128": NewLimit(0, Bucket{Rate: 333_333_333, Burst: 65537, Per: Destination, Bits4: 32, Bits6: 128}),
	} {
		if text := (Spec{Steps: []Step{s}}).Words(); !slices.Equal(text, []string{want}) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
