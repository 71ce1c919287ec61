package deploy_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// marks packets by their class, and numbered ones by their port, in the namespace of a function
// that branches go out from.
const marks = `table inet tell {
	chain forward {
		type filter hook forward priority mangle
		ip dscp ef meta mark set 0x1
		ip6 dscp ef meta mark set 0x1
		ip dscp af41 meta mark set 0x102
		ip6 dscp af41 meta mark set 0x102
		ip dscp cs1 meta mark set 0x3
		ip6 dscp cs1 meta mark set 0x3
		udp dport 7013 meta mark set 0x9
	}
}
`

// eachClass are packets' traffic classes, with the nodes that a mark has them pass.
var eachClass = map[int]string{0: "tell out", 46 << 2: "tell one out", 34 << 2: "tell two three out", 8 << 2: "tell"}

// strictly lets connections to one port pass, and what answers to those that it saw.
func strictly(name, more string) string {
	return "{name: " + name + ", kind: firewall, " + more + "firewall: {policy: drop, rules: {list: [{state: [established], action: accept}, {state: [new], protocol: tcp, destination_port: 7011, action: accept}, {protocol: udp, action: accept}, {protocol: icmp, action: accept}, {protocol: icmpv6, action: accept}]}}}"
}

func needsBranches(t testing.TB) {
	t.Helper()
	needsForwarder(t)
	nstest.Require(t, feature.NFTables, feature.ToolNFT)
}

func tell(t *testing.T, p *plan.Plan) {
	t.Helper()
	for _, n := range p.Functions() {
		if n.Function() == p.Functions()[0].Function() {
			sh(t, "ip netns exec "+n.Namespace+" nft -f - <<'RULES'\n"+marks+"RULES\n")
		}
	}
}

// byPlan begins the name of the way that packets go which no other has. It seems to have had what comes
// between two readings.
const byPlan = "by plan, "

// went are the packets and bytes that each hop's way had, as in "tell one", those of all replicas together.
func went(t *testing.T, p *plan.Plan) map[string]steer.Counts {
	t.Helper()
	h, err := netns.Open(wiringOf(p))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	var ways []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Branch != nil {
			ways = append(ways, s)
		}
	}
	all := map[string]steer.Counts{}
	add := func(way string, c steer.Counts) {
		all[way] = steer.Counts{Packets: all[way].Packets + c.Packets, Bytes: all[way].Bytes + c.Bytes}
	}
	parted, err := steer.PartedAt(at, ways) // before what it is part of
	if err != nil || len(ways) == 0 {
		return all
	}
	counted, err := steer.Count(at)
	if err != nil || parted.Unkept > 0 {
		t.Fatalf("%+v, error %v", parted, err)
	}
	for _, s := range ways {
		left := counted[s.Device].Counts
		for _, c := range parted.Aside[s.Device] {
			left.Packets, left.Bytes = left.Packets-c.Packets, left.Bytes-c.Bytes
		}
		add(byPlan+s.Branch.Node+" "+s.Branch.Ways[0].Node, left)
		for _, w := range s.Branch.Ways[1:] {
			add(s.Branch.Node+" "+w.Node, parted.Aside[s.Device][w.Number])
		}
	}
	return all
}

// wentMuch waits until so many packets more than before have gone a way, if it is one, as those that a busy machine has on their way do in
// time, and tells how many went each.
func wentMuch(t *testing.T, p *plan.Plan, before map[string]steer.Counts, way string, much int64) map[string]int64 {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		moved := map[string]int64{}
		for w, n := range went(t, p) {
			moved[w] = int64(n.Packets - before[w].Packets)
		}
		if n, is := moved[way]; !is || n >= much || time.Now().After(deadline) {
			return moved
		}
	}
}

// dials connects from end to end with a traffic class.
func dials(t *testing.T, p *plan.Plan, at string, class int) (near, far net.Conn) {
	t.Helper()
	var listener net.Listener
	inside(t, p.Server().Namespace, func() (err error) { listener, err = net.Listen("tcp", at); return })
	defer func() { _ = listener.Close() }()
	d := net.Dialer{Timeout: time.Minute, Control: func(network, _ string, c syscall.RawConn) (err error) {
		level, option := unix.IPPROTO_IP, unix.IP_TOS
		if network == "tcp6" {
			level, option = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
		}
		wrong := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), level, option, class) })
		if err == nil {
			err = wrong
		}
		return err
	}}
	inside(t, p.Client().Namespace, func() (err error) { near, err = d.Dial("tcp", at); return })
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return near, far
}

// TestBranches: what a function marks goes the way of its mark, whole segments too that the kernel
// cuts up later, and answers come back the same way: firewalls on each let only answers pass to what
// they saw.
func TestBranches(t *testing.T) {
	needsBranches(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), wiring+spec(
				"{name: tell, kind: forward, next: out, branches: [{mark: 1, to: one}, {mark: 2, mask: 0xff, to: two}, {mark: 3, to: server}]}",
				strictly("one", "next: out, "), strictly("two", ""), "{name: three, kind: bridge}", strictly("out", "")))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			tell(t, p)
			crosses(t, p)
			for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
				for class, way := range eachClass {
					goes(t, p, netip.AddrPortFrom(to, 7011).String(), class, way)
				}
			}
		})
	}
}

// goes tells whether a connection of a class goes a way, both ways.
func goes(t *testing.T, p *plan.Plan, at string, class int, way string) {
	t.Helper()
	const size = 4 << 20
	before := went(t, p)
	near, far := dials(t, p, at, class)
	for _, c := range [][2]net.Conn{{near, far}, {far, near}} {
		got := make(chan int64)
		go func() {
			n, _ := io.Copy(io.Discard, io.LimitReader(c[1], size))
			got <- n
		}()
		_, _ = c[0].SetDeadline(time.Now().Add(time.Minute)), c[1].SetDeadline(time.Now().Add(time.Minute))
		if _, err := c[0].Write(bytes.Repeat([]byte{1}, size)); err != nil {
			t.Errorf("%s, class %#x: %v", at, class, err)
		}
		if n := <-got; n != size {
			t.Fatalf("%s, class %#x: %d of %d bytes come", at, class, n, size)
		}
	}
	after, nodes := went(t, p), strings.Fields(way+" server")
	for hop, c := range after {
		from, to, _ := strings.Cut(strings.TrimPrefix(hop, byPlan), " ")
		a, b := slices.Index(nodes, from), slices.Index(nodes, to)
		on := a >= 0 && b >= 0 && (b == a+1 || a == b+1)
		if moved := int64(c.Bytes - before[hop].Bytes); on && moved < size || !on && moved > size/2 {
			t.Errorf("%s, class %#x: %d bytes from %s to %s, want the way %q", at, class, moved, from, to, way)
		}
	}
}

// moving are forwarders on which no flow stays on its path: all go the new way at once.
var moving = map[string]string{"tcx": "wiring: ebpf\nebpf: {stay: false, idle: 100ms}\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact, stay: false, idle: 100ms}\n"}

// TestBranchesChange while packets pass, a thousand a second, and each of them comes once. They go
// where their mark says as soon as the chain is as it should be, where none stays on its path.
func TestBranchesChange(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	for hook, wiring := range moving {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			const branch = "{name: tell, kind: forward, branches: [{mark: %s, to: %s}]}"
			first := planned(t, owner, wiring+spec(forward("tell"), forward("one"), forward("out")))
			up(t, first)
			tell(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, c := range []struct {
				way       string // of which much must have gone since
				functions []string
			}{
				{"tell out", []string{fmt.Sprintf(branch, "9", "out"), forward("one"), forward("out")}},                                                   // past one
				{"tell two", []string{fmt.Sprintf(branch, "9", "two"), "{name: one, kind: forward, next: out}", forward("two"), forward("out")}},          // to a new one
				{byPlan + "tell one", []string{fmt.Sprintf(branch, "7", "two"), "{name: one, kind: forward, next: out}", forward("two"), forward("out")}}, // by another mark
				{"tell server", []string{fmt.Sprintf(branch, "9", "server"), forward("one"), forward("out")}},
				{"tell two", []string{fmt.Sprintf(branch, "8, mask: 8", "two"), forward("one"), "{name: two, kind: bridge}"}},
				{"", []string{forward("tell")}},
				{byPlan + "three out", []string{forward("tell"), "{name: three, kind: forward, branches: [{mark: 1, to: server}]}", forward("out")}},
				{"tell out", []string{fmt.Sprintf(branch, "9", "out"), forward("one"), forward("out")}},
			} {
				p := planned(t, owner, wiring+spec(c.functions...))
				s.more(t, 100)
				up(t, p)
				unchanged(t, p)
				before := went(t, p)
				s.more(t, 300)
				for way, moved := range wentMuch(t, p, before, c.way, 450) {
					if way == c.way && moved < 450 || strings.HasPrefix(way, "tell ") && way != c.way && moved > 20 {
						t.Errorf("%v: %d packets went %s", c.functions, moved, way)
					}
				}
				crosses(t, p)
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}
