package deploy_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// updated are forwarders whose chains change, at each hook, and with flows that stay.
var updated = map[string]string{"tcx": forwarders["tcx"], "clsact": forwarders["clsact"], "staying": "wiring: ebpf\nebpf: {stay: true, idle: 1m}\n"}

// TestForwarderUpdatesLoseNothing: functions are put in, taken out and replaced while packets
// pass, a thousand a second, and each of them comes once. The nodes beside are left alone.
func TestForwarderUpdatesLoseNothing(t *testing.T) {
	needsForwarder(t)
	for name, wiring := range updated {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			first := planned(t, owner, wiring+spec(forward("a"), forward("c")))
			up(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, functions := range [][]string{
				{forward("a"), forward("b"), forward("c")}, // put in
				{forward("a"), forward("d"), forward("c")}, // replaced
				{forward("a"), forward("c")},               // taken out
				{firewall, forward("a"), forward("c")},     // at the end
				{forward("c"), forward("a"), firewall},     // in another order
				{forward("a"), shaper, forward("b")},       // the last for two
				{forward("a")},                             // all but one
				{},                                         // all
				{forward("a"), forward("b"), forward("c")}, // and all back
			} {
				s.more(t, 100)
				p := planned(t, owner, wiring+spec(functions...))
				for _, c := range up(t, p) {
					if kind := strings.FieldsFunc(c, func(r rune) bool { return r == ' ' || r == ':' })[1]; kind != "steer" && slices.ContainsFunc([]string{":client:", ":server:"}, func(n string) bool { return strings.Contains(c, n) }) {
						t.Errorf("%v: an end was changed: %s", functions, c)
					}
				}
				unchanged(t, p)
				crosses(t, p)
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}

// streaming is packets on their way, one stream a family.
type streaming struct {
	sent  []net.Conn
	came  []net.PacketConn
	stop  chan struct{}
	ended chan uint64
	count []map[uint64]int
	// from which addresses and ports they came.
	from []map[string]bool
	read []chan struct{}
	tick chan struct{}
	// late is how many of each stream came after ones that were sent later, the last of which is this.
	late, last []uint64
	// dropped by the machine before.
	dropped uint64
	// refused is what the kernel said of packets that it did not take, by their numbers, and waited are how many were sent when somebody
	// began to wait for more: what a test was at when one was lost.
	refused map[uint64]error
	waited  []uint64
	now     atomic.Uint64
}

// streams sends numbered packets, a thousand a second, over the chain.
func streams(t testing.TB, p *plan.Plan, to []netip.Addr) *streaming {
	t.Helper()
	return streamsTo(t, p, to, to)
}

// streamsTo is streams where the server has other addresses than the client knows.
func streamsTo(t testing.TB, p *plan.Plan, to, at []netip.Addr) *streaming {
	t.Helper()
	return streamsFrom(t, p.Client(), p.Server(), to, at)
}

// streamsFrom one end to addresses that the other has, and knows as others.
func streamsFrom(t testing.TB, from, end plan.Node, to, at []netip.Addr) *streaming {
	t.Helper()
	s := &streaming{stop: make(chan struct{}), ended: make(chan uint64, 1), tick: make(chan struct{}), dropped: nstest.Dropped(t), refused: map[uint64]error{}}
	for i := range to {
		var in net.PacketConn
		var out net.Conn
		inside(t, end.Namespace, func() (err error) {
			in, err = net.ListenPacket("udp", netip.AddrPortFrom(at[i], 7013).String())
			return
		})
		inside(t, from.Namespace, func() (err error) {
			out, err = net.Dial("udp", netip.AddrPortFrom(to[i], 7013).String())
			return
		})
		raw, err := in.(*net.UDPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20)
		}); err != nil {
			t.Fatal(err)
		}
		s.sent, s.came = append(s.sent, out), append(s.came, in)
		s.count, s.read = append(s.count, map[uint64]int{}), append(s.read, make(chan struct{}))
		s.from = append(s.from, map[string]bool{})
		s.late, s.last = append(s.late, 0), append(s.last, 0)
	}
	for i := range s.came {
		go s.take(i)
	}
	go s.run()
	return s
}

// run sends until it is stopped, from one core, as a tour does.
func (s *streaming) run() {
	nstest.OnOneCore()
	var n uint64
	defer func() { s.ended <- n }()
	for {
		for _, c := range s.sent {
			if _, err := c.Write(binary.BigEndian.AppendUint64(nil, n)); err != nil {
				s.refused[n] = err
			}
		}
		n++
		s.now.Store(n)
		select {
		case <-s.stop:
			return
		case s.tick <- struct{}{}: // somebody counts
		default:
		}
		time.Sleep(time.Millisecond)
	}
}

// take what comes of a stream until there is a deadline: on a slow machine no buffer holds all of it.
func (s *streaming) take(i int) {
	defer close(s.read[i])
	b := make([]byte, 64)
	for {
		if s.next(i, b) != nil {
			return
		}
	}
}

// next packet of a stream.
func (s *streaming) next(i int, b []byte) error {
	_, from, err := s.came[i].ReadFrom(b)
	if err != nil {
		return err
	}
	s.from[i][from.String()] = true
	n := binary.BigEndian.Uint64(b)
	s.count[i][n]++
	if n < s.last[i] {
		s.late[i]++
	}
	s.last[i] = max(n, s.last[i])
	return nil
}

// more waits until so many more were sent.
func (s *streaming) more(t testing.TB, n int) {
	t.Helper()
	s.waited = append(s.waited, s.now.Load())
	for range n {
		select {
		case <-s.tick:
		case <-time.After(time.Minute):
			t.Fatal("nothing is sent")
		}
	}
}

// ends the streams, and finds each packet of them once, but for what this machine dropped
// meanwhile because another test floods it.
func (s *streaming) ends(t testing.TB) {
	t.Helper()
	close(s.stop)
	sent := <-s.ended
	for i, in := range s.came {
		_ = in.SetReadDeadline(time.Now())
		<-s.read[i]
		for b := make([]byte, 64); uint64(len(s.count[i])) < sent; {
			_ = in.SetReadDeadline(time.Now().Add(20 * time.Second))
			if s.next(i, b) != nil {
				break
			}
		}
		var lost, twice []uint64
		for n := range sent {
			switch c := s.count[i][n]; {
			case c == 0:
				lost = append(lost, n)
			case c > 1:
				twice = append(twice, n)
			}
		}
		if dropped := nstest.Dropped(t) - s.dropped; uint64(len(lost)) > dropped || len(twice) > 0 {
			t.Errorf("to %s: of %d packets %d did not come (%v) and %d came again (%v); cores dropped %d; the kernel did not take %v; waits for more began at %v",
				in.LocalAddr(), sent, len(lost), lost[:min(len(lost), 20)], len(twice), twice[:min(len(twice), 20)], dropped, s.refused, s.waited)
		}
		_, _ = in.Close(), s.sent[i].Close()
	}
}
