package deploy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// How long a packet is waited for that should be dropped, and one that should not.
const (
	short = 50 * time.Millisecond
	long  = time.Minute
)

// reaches sends a datagram or opens a connection and tells whether it arrives.
func reaches(t *testing.T, network, fromNS, toNS string, to netip.Addr, port uint16, patience time.Duration) bool {
	t.Helper()
	at := netip.AddrPortFrom(to, port).String()
	if network == "udp" {
		var listener net.PacketConn
		var conn net.Conn
		inside(t, toNS, func() (err error) { listener, err = net.ListenPacket(network, at); return })
		defer func() { _ = listener.Close() }()
		inside(t, fromNS, func() (err error) { conn, err = net.Dial(network, at); return })
		defer func() { _ = conn.Close() }()
		return asked(t, conn, listener, patience)
	}
	var listener net.Listener
	inside(t, toNS, func() (err error) { listener, err = net.Listen(network, at); return })
	defer func() { _ = listener.Close() }()
	reached := false
	inside(t, fromNS, func() error {
		conn, err := net.DialTimeout(network, at, patience)
		if err == nil {
			_ = conn.Close()
		}
		reached = err == nil
		return nil
	})
	return reached
}

// questions that were asked.
var questions atomic.Uint32

// asked sends a datagram, and again each second of its patience: a machine that is full of
// others' packets may lose one. It tells whether one arrived. Each begins with the number of the
// question, and behind that has which try it is.
func asked(t *testing.T, from net.Conn, to net.PacketConn, patience time.Duration) bool {
	t.Helper()
	question := binary.BigEndian.AppendUint32(nil, questions.Add(1))
	for left, try := patience, byte(0); left > 0; left, try = left-time.Second, try+1 {
		if _, err := from.Write(append(question, try)); err != nil {
			t.Fatal(err)
		}
		_ = to.SetReadDeadline(time.Now().Add(min(left, time.Second)))
		if _, _, err := to.ReadFrom(make([]byte, 16)); err == nil {
			return true
		}
	}
	return false
}

func inside(t testing.TB, ns string, fn func() error) {
	t.Helper()
	for ends := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		err := netns.Do(ns, fn)
		// A process that another test begins has what was listened on and closed meanwhile until it executes its program.
		if errors.Is(err, unix.EADDRINUSE) && time.Now().Before(ends) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}

// TestFirewallFilters sends packets that rules name and others, both ways, in both
// families and with both backends, and reads the counters.
func TestFirewallFilters(t *testing.T) {
	needs(t)
	const rules = "rules: {generate: 20, stateful: STATEFUL, list: [" +
		"{protocol: tcp, destination_port: 80, action: drop, comment: web}, {protocol: udp, destination_port: 5000-6000, action: drop, comment: voice}]}"
	for _, backend := range []string{"nftables", "iptables"} {
		for _, direction := range []string{"both", "forward", "reverse"} {
			for _, stateful := range []string{"true", "false"} {
				t.Run(backend+" "+direction+" stateful="+stateful, func(t *testing.T) {
					if stateful == "false" && direction != "both" {
						return // covered by the stateful ones
					}
					p := planned(t, nstest.Owner(t), spec("{name: fw, kind: firewall, direction: "+direction+", firewall: {backend: "+backend+", "+
						strings.Replace(rules, "STATEFUL", stateful, 1)+"}}"))
					downAfter(t, p.Chain)
					up(t, p)
					crosses(t, p)
					filters(t, p, p.Client(), p.Server(), direction != "reverse")
					filters(t, p, p.Server(), p.Client(), direction != "forward")
					counted(t, p)
				})
			}
		}
	}
}

func filters(t *testing.T, p *plan.Plan, from, to plan.Node, acts bool) {
	t.Helper()
	for _, at := range addresses(p, from.Name, to.Name) {
		for _, c := range []struct {
			network string
			port    uint16
			named   bool
		}{{"tcp", 80, true}, {"tcp", 81, false}, {"udp", 5000, true}, {"udp", 6000, true}, {"udp", 6001, false}, {"udp", 80, false}} {
			want, patience := true, long
			if c.named && acts {
				want, patience = false, short
			}
			if got := reaches(t, c.network, from.Namespace, to.Namespace, at, c.port, patience); got != want {
				t.Errorf("%s to %s over %s port %d arrives: %t, want %t", from.Name, at, c.network, c.port, got, want)
			}
		}
	}
}

// counted checks that the rules of the list counted, and the generated ones did not.
func counted(t *testing.T, p *plan.Plan) {
	t.Helper()
	fw := p.Functions()[0]
	at := resource.At(nstest.Open(t, fw.Namespace), p.Chain)
	for _, r := range p.Resources {
		s, ok := r.Spec.(ruleset.Spec)
		if !ok {
			continue
		}
		counters, err := ruleset.Count(at, s)
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for _, c := range counters.Rules {
			switch {
			case c.Comment != "":
				named++
				if c.Packets == 0 || c.Bytes == 0 {
					t.Errorf("rule %d (%s) counted nothing", c.Rule, c.Comment)
				}
			case s.Rules[c.Rule-1].Verdict == "drop" && c.Packets != 0:
				t.Errorf("generated rule %d matched %d packets", c.Rule, c.Packets)
			}
		}
		if named != 2 {
			t.Errorf("%d counters of 2 rules: %+v", named, counters.Rules)
		}
	}
}

// TestStatefulRulesAreEvaluated puts a rule for a byte count that is reached beside
// the generated ones, whose count is not.
func TestStatefulRulesAreEvaluated(t *testing.T) {
	needs(t)
	p := planned(t, nstest.Owner(t), spec("{name: fw, kind: firewall, firewall: {rules: {generate: 100, stateful: true}}}"))
	downAfter(t, p.Chain)
	up(t, p)
	fw := p.Functions()[0].Namespace
	if acct := strings.TrimSpace(sh(t, "ip netns exec "+fw+" sysctl -n net.netfilter.nf_conntrack_acct")); acct != "1" {
		t.Errorf("connection tracking does not count bytes: %s", acct)
	}
	at := resource.At(nstest.Open(t, fw), p.Chain)
	reached := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-test", Hook: "forward", Priority: 10, Policy: "accept",
		Rules: []ruleset.Rule{{Match: ruleset.Match{ConnectionBytes: 1}, Counted: true}}}
	if err := (ruleset.Kind{}).Apply(at, []resource.Change{{Op: resource.Create, Key: reached.Key(), Spec: reached}}); err != nil {
		t.Fatal(err)
	}
	crosses(t, p)
	counters, err := ruleset.Count(at, reached)
	if err != nil || len(counters.Rules) != 1 || counters.Rules[0].Packets == 0 {
		t.Errorf("a connection's bytes are not seen: %+v %v", counters, err)
	}
}

// TestClassesShape sends to the port that a class names and to another, and looks
// which class counted, and how fast it went.
func TestClassesShape(t *testing.T) {
	needs(t)
	p := planned(t, nstest.Owner(t), spec("{name: shape, kind: shaper, shaper: {rate: 1Gbit, classes: ["+
		"{name: web, rate: 1Mbit, ceil: 16Mbit, burst: 64KiB, match: {protocol: tcp, destination_port: 80}}]}}"))
	downAfter(t, p.Chain)
	up(t, p)
	shape := p.Functions()[0]
	for _, to := range addresses(p, "client", "server") {
		before := classBytes(t, shape.Namespace, shape.East.Device)
		const size = 1 << 20
		named, other := send(t, p, to, 80, size), send(t, p, to, 81, size)
		for range 20 { // one of which no stall of the machine delays
			if other < named {
				break
			}
			other = send(t, p, to, 81, size)
		}
		after := classBytes(t, shape.Namespace, shape.East.Device)
		if got := after[16] - before[16]; got < size {
			t.Errorf("the class of port 80 counted %d bytes of %d", got, size)
		}
		if got := after[2] - before[2]; got < size {
			t.Errorf("the default class counted %d bytes of %d", got, size)
		}
		// 1 MiB less 64 KiB of burst at 16 Mbit takes 0.49 s.
		if named < 400*time.Millisecond || named < other {
			t.Errorf("%d bytes took %s in a class of 16 Mbit, %s outside", size, named, other)
		}
	}
}

func classBytes(t *testing.T, ns, device string) map[uint16]uint64 {
	t.Helper()
	h := nstest.Open(t, ns)
	l, err := h.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	classes, err := h.ClassList(l, netlink.HANDLE_NONE)
	if err != nil {
		t.Fatal(err)
	}
	counted := map[uint16]uint64{}
	for _, c := range classes {
		_, minor := netlink.MajorMinor(c.Attrs().Handle)
		counted[minor] = c.Attrs().Statistics.Basic.Bytes
	}
	return counted
}

// send takes bytes from the client to the server's port and tells how long it took.
func send(t *testing.T, p *plan.Plan, to netip.Addr, port uint16, size int64) time.Duration {
	t.Helper()
	at := netip.AddrPortFrom(to, port).String()
	var listener net.Listener
	var conn net.Conn
	inside(t, p.Server().Namespace, func() (err error) { listener, err = net.Listen("tcp", at); return })
	defer func() { _ = listener.Close() }()
	inside(t, p.Client().Namespace, func() (err error) { conn, err = net.Dial("tcp", at); return })
	start := time.Now()
	go func() {
		defer func() { _ = conn.Close() }()
		_, _ = io.Copy(conn, bytes.NewReader(make([]byte, size)))
	}()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	_ = server.SetDeadline(time.Now().Add(2 * time.Minute))
	if n, err := io.Copy(io.Discard, server); n != size || err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d of %d bytes arrived: %v", n, size, err)
	}
	return time.Since(start)
}
