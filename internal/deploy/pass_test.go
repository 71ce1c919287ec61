package deploy_test

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// TestPasses brings functions up that are steps at interfaces: packets go through, bear the
// code point, and are counted; a change takes the place of what was there.
func TestPasses(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.BPFIngress)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	functions := func(code string) *plan.Plan {
		return planned(t, owner, spec("{name: count, kind: counter}", "{name: mark, kind: dscp, direction: forward, dscp: {code: "+code+"}}",
			"{name: limit, kind: ratelimit, ratelimit: {rate: 1Gbit, per: flow}}"))
	}
	p := functions("ef")
	up(t, p)
	unchanged(t, p)
	crosses(t, p)
	l := hear(t, p)
	const n = 20
	for range n {
		if got := l.exchange(t, p); got != 46<<2|1 {
			t.Fatalf("traffic class %#x", got)
		}
	}
	before := passed(t, p, "mark", "eth0")
	if before.Slots[0].Packets < n || before.Malformed.Packets > 0 {
		t.Errorf("counted %+v", before)
	}
	if c := passed(t, p, "limit", "eth0"); c.Came.Packets < n || c.Slots[0].Packets > 0 {
		t.Errorf("limited %+v", c)
	}
	p = functions("af41")
	if changes := up(t, p); len(changes) != 1 || changes[0] != "update pass:mark:eth0" {
		t.Errorf("another code changes %v", changes)
	}
	if got := l.exchange(t, p); got != 34<<2|1 {
		t.Errorf("traffic class %#x", got)
	}
	if c := passed(t, p, "mark", "eth0"); c.Slots[0].Packets <= before.Slots[0].Packets {
		t.Errorf("counted %+v, and %+v before the change", c.Slots[0], before.Slots[0])
	}
	plain := planned(t, owner, spec("{name: count, kind: counter}", forward("mark"), "{name: limit, kind: forward}"))
	up(t, plain)
	unchanged(t, plain)
	if got := l.exchange(t, plain); got != 1 {
		t.Errorf("traffic class %#x without the functions", got)
	}
}

// TestDropsItsShare of what came, exactly.
func TestDropsItsShare(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.BPFIngress)
	p := planned(t, nstest.Owner(t), spec("{name: lose, kind: drop, direction: forward, drop: {every: 4}}"))
	downAfter(t, p.Chain)
	up(t, p)
	l := hear(t, p)
	const n = 40
	var c pass.Counts
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		c = passed(t, p, "lose", "eth0")
		seen := c.Came.Packets - c.Other.Packets
		if seen >= n && c.Slots[0].Packets == seen/4 {
			return
		}
		if seen < n { // another test that floods this machine may make it drop one
			l.send(t, p)
		}
	}
	t.Errorf("counted %+v", c)
}

// passed reads what the pass at a node's interface counted.
func passed(t *testing.T, p *plan.Plan, node, device string) pass.Counts {
	t.Helper()
	h, err := netns.Open("nfchain." + p.Chain + "." + node)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c, found, err := pass.CountAt(resource.At(h, p.Chain), device)
	if err != nil || !found {
		t.Fatalf("the pass of %s: %t, %v", node, found, err)
	}
	return c
}

// listener at the server is told the traffic class of what it gets.
type listener struct {
	*net.UDPConn
	to netip.AddrPort
}

func hear(t *testing.T, p *plan.Plan) (l listener) {
	t.Helper()
	for _, a := range addresses(p, p.Client().Name, p.Server().Name) {
		if a.Is4() {
			l.to = netip.AddrPortFrom(a, 5000)
		}
	}
	inside(t, p.Server().Namespace, func() (err error) {
		l.UDPConn, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(l.to))
		return err
	})
	t.Cleanup(func() { _ = l.Close() })
	option(t, l.UDPConn, unix.IP_RECVTOS, 1)
	return l
}

func option(t *testing.T, c *net.UDPConn, name, value int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, name, value) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// send a datagram that says that its sender knows of congestion (RFC 3168 §5), and give the
// port that it comes from.
func (l listener) send(t *testing.T, p *plan.Plan) (from int) {
	t.Helper()
	var c *net.UDPConn
	inside(t, p.Client().Namespace, func() (err error) {
		c, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(l.to))
		return err
	})
	defer func() { _ = c.Close() }()
	option(t, c, unix.IP_TOS, 1)
	if _, err := c.Write([]byte("packet")); err != nil {
		t.Fatal(err)
	}
	return c.LocalAddr().(*net.UDPAddr).Port
}

// exchange sends a datagram and gives the traffic class that it came with. Another test that
// floods this machine may make it drop one; then the next is sent.
func (l listener) exchange(t *testing.T, p *plan.Plan) byte {
	t.Helper()
	for range 30 {
		port := l.send(t, p)
		if err := l.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if class, came := l.class(t, port); came {
			return class
		}
	}
	t.Fatal("nothing comes through the chain")
	return 0
}

// class that what was sent from a port came with, if it came in time.
func (l listener) class(t *testing.T, port int) (class byte, came bool) {
	t.Helper()
	data, more := make([]byte, 100), make([]byte, 100)
	for {
		_, n, _, from, err := l.ReadMsgUDP(data, more)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, false
		}
		if err != nil {
			t.Fatal(err)
		}
		if from.Port != port {
			continue // one that was given up
		}
		messages, err := unix.ParseSocketControlMessage(more[:n])
		if err != nil || len(messages) != 1 || len(messages[0].Data) == 0 {
			t.Fatal(messages, err)
		}
		return messages[0].Data[0], true
	}
}
