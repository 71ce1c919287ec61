package deploy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Chains that between them have every program, told all kinds of things, each by one edit after the other.
var (
	mixed = spec(inline("count"), walled("both", "policy: drop, rules: {generate: 20, stateful: true, list: [{protocol: tcp, destination_port: 80, action: accept}, {protocol: udp, destination_port: 7000-7100, action: accept},"+
		" {source: 10.0.0.0/8, protocol: icmp, action: accept}, {protocol: icmpv6, action: accept}, {state: [invalid], action: drop}]}"),
		"{name: limit, kind: ratelimit, runtime: inline, ratelimit: {rate: 100Mbit, per: flow}}", "{name: limits, kind: ratelimit, runtime: inline, ratelimit: {rate: 1Gbit, per: source}}",
		marked("ef", "inline"), "{name: paint, kind: mark, runtime: inline, mark: {value: 5, mask: 7}}", "{name: lose, kind: drop, runtime: inline, drop: {every: 50}}",
		"{name: tap, kind: mirror, runtime: inline, mirror: {every: 3, protocol: udp}}")
	natted   = spec(walled("both", "rules: {list: [{state: [invalid], action: drop}]}"), translating(`nat: {source: {}, destination: {addresses: [203.0.113.2, "2001:db8::2"], protocol: tcp, port: 80, to_port: 8080}}`), forward("a"))
	balanced = backends + spec(forward("a"), "{name: lb, kind: loadbalancer, runtime: inline, loadbalancer: {by: hash}}", inline("count"))
	ruled    = "ebpf: {flows: 4096}\n" + spec(replicas("a", 2)) + classifier("drop",
		pathRule("web", "protocol: tcp, destination_port: 80, ingress: client", "a"), pathRule("names", `source: "10.0.0.0/8,fd00::/8", protocol: udp`, "a"),
		pathRule("voice", "dscp: ef, vlan: none", "a"), pathRule("tagged", "vlan: 100", "a"), pathRule("sent", "protocol: icmp"))
	parted  = spec("{name: tell, kind: forward, branches: [{mark: 1, to: c}, {mark: 2, mask: 3, to: server}]}", forward("b"), replicas("c", 2))
	behind  = parted + classifier("chain", pathRule("some", "protocol: udp, destination_port: 7013", "b"))
	stays   = "ebpf: {idle: 10m, census: 300ms}\n"
	told    = "{name: tell, kind: forward, branches: [{mark: 9, to: server}]}"
	headers = "{name: inspect, kind: command, encapsulation: nsh, command: {args: [inspect]}}"
	asking  = "ebpf: {flows: 1024}\n" + spec("{name: ask, kind: command, replicas: 2, command: {args: [ask]}}")
	headed  = spec(forward("a"), headers) + classifier("chain", pathRule("all", "protocol: udp", "inspect"), pathRule("some", "protocol: tcp", "inspect", "a"))
)

// everyProgram that chains have, as these configure it, and a namespace to run them in, whose interfaces have the numbers of those that they
// come by and copy packets to.
func everyProgram(f *testing.F) (all []*configured, in *netns.Handle) {
	f.Helper()
	needsBranches(f)
	nstest.Require(f, feature.BPFXDP)
	in = nstest.Unnamed(f)
	far, there := nstest.Unnamed(f), map[int]bool{1: true}
	for _, edits := range [][]string{
		{stays + spec(forward("a")), stays + spec(forward("x"), forward("a"))},
		{stays + spec(forward("a"), inline("one")), stays + spec(forward("a"), forward("x"), inline("one"))},
		{stays + spec(told, replicas("b", 2)), stays + spec(told, forward("x"), replicas("b", 2))},
		{spec(replicas("a", 2))}, {mixed}, {natted}, {balanced}, {ruled}, {behind}, {headed}, {spec(headers)}, {asking}, {spec(quickly)},
		{"wiring: veth\n" + spec("{name: driven, kind: passthrough, passthrough: {mode: xdp}}")},
	} {
		programs, indexes := made(f, edits...)
		all = append(all, programs...)
		for _, i := range indexes {
			if !there[i] {
				taps(f, in, far, i)
			}
			there[i] = true
		}
	}
	turn := func(c *configured) int { // before others that enter flows in the same table
		if c.mark == held.OpensMark {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *configured) int { return turn(a) - turn(b) })
	return all, in
}

// taps is an interface of a number, of which what it sends comes to another namespace.
func taps(tb testing.TB, in, far *netns.Handle, index int) {
	tb.Helper()
	name := fmt.Sprint("to", index)
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name, Index: index}, PeerName: name, PeerNamespace: netlink.NsFd(far.FD())}
	if err := in.LinkAdd(pair); err != nil {
		tb.Fatal(err)
	}
	for _, h := range []*netns.Handle{far, in} {
		l, err := h.LinkByName(name)
		if err == nil {
			err = h.LinkSetUp(l)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// FuzzProgramsOfChains runs each program of chains, as these have it, on any frame, between the chain's ends too: what it says is among what it
// may say, it changes nothing but what it is for, makes no flow of what is malformed, and lets none of that by where rules are asked.
func FuzzProgramsOfChains(f *testing.F) {
	all, in := everyProgram(f)
	each := func(tb testing.TB, g given) {
		tb.Helper()
		err := in.Do(func() error {
			for _, c := range all {
				if err := c.check(g); err != nil {
					tb.Errorf("%s, of %x\nas %#x with mark %#x: %v", c.where, g.frame, g.shape, g.mark, err)
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, frames := range []map[string][]byte{framestest.Usual(), framestest.Odd()} {
		for _, name := range slices.Sorted(maps.Keys(frames)) {
			for _, shape := range []byte{0, fromFirst | expected, fromSecond | merged | early} {
				g := given{frames[name], shape, uint32(len(name) % 4)}
				f.Add(g.frame, g.shape, g.mark)
				if each(f, g); f.Failed() {
					return // with what all programs make of one frame
				}
			}
		}
	}
	varied(f, all)
	f.Fuzz(func(t *testing.T, frame []byte, shape byte, mark uint32) {
		if len(frame) <= 3100 {
			each(t, given{frame, shape, mark})
		}
	})
}

// varied fails the test if a kind of program is missing, or one was not led by what it was told: each has gone on, those that may end
// packets have ended some, and those that note whose flows are have noted some.
func varied(tb testing.TB, all []*configured) {
	tb.Helper()
	for _, name := range []string{
		steer.Name, steer.SpreadName, steer.StayName, steer.BranchName, steer.PathsName, steer.FrontName, steer.VersionsName, steer.LeadsName,
		held.PassMark, held.ProbeMark, held.OpensMark, held.ThroughMark, held.LabelMark, header,
	} {
		if !slices.ContainsFunc(all, func(c *configured) bool { return strings.HasPrefix(c.Name, name) }) {
			tb.Errorf("no chain has a program called %s", name)
		}
	}
	for _, name := range []string{"buckets", "rules_flows", "nat_flows"} {
		if !slices.ContainsFunc(all, func(c *configured) bool { return c.Maps[name] != nil }) {
			tb.Errorf("no program has a table called %s", name)
		}
	}
	noted := map[uint32]int{1: 0, 2: 0}
	for _, c := range all {
		for _, verdict := range c.wanted() {
			if c.said[verdict] == 0 {
				tb.Errorf("%s never said %d, but %v", c.where, verdict, c.said)
			}
		}
		if c.mark == held.OpensMark { // of the two of a replica the first alone meets flows that the other has not noted
			noted[c.replica] += c.noted
		}
	}
	if len(noted) != 2 || noted[1] == 0 || noted[2] == 0 {
		tb.Errorf("by the replicas whose flows programs note, they noted %v", noted)
	}
}
