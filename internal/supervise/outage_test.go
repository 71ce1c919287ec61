package supervise_test

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// interval of the packets by which outages are measured.
const interval = time.Millisecond

// rest is how long a function is well until its failures are forgotten.
const rest = 11 * time.Second

// abreast is how many chains have their outages beside each other.
const abreast = 10

// stream is numbered packets from the first end to the second, of its flows by turns, and how long none
// came.
type stream struct {
	out  []net.Conn
	in   net.PacketConn
	next atomic.Uint64 // number of the next packet to be sent
	back *stream       // answers to them, where each is answered

	mu      sync.Mutex
	last    time.Time
	longest time.Duration
	times   map[uint64]int // that a number came
}

func newStream(tb testing.TB, p *path) *stream { return newStreamOf(tb, p, 1) }

func newStreamOf(tb testing.TB, p *path, flows int) *stream {
	tb.Helper()
	return streamed(tb, p, flows, &stream{times: map[uint64]int{}})
}

// answered is a stream in which each packet is sent back.
func answered(tb testing.TB, p *path, flows int) *stream {
	tb.Helper()
	return streamed(tb, p, flows, &stream{times: map[uint64]int{}, back: &stream{times: map[uint64]int{}}})
}

func streamed(tb testing.TB, p *path, flows int, s *stream) *stream {
	tb.Helper()
	at := netip.AddrPortFrom(p.addresses(p.Client(), p.Server())[0], 7013).String()
	err := netns.Do(p.Server().Namespace, func() (err error) { s.in, err = net.ListenPacket("udp", at); return })
	for range flows {
		if err == nil {
			err = netns.Do(p.Client().Namespace, func() error {
				c, err := net.Dial("udp", at)
				s.out = append(s.out, c)
				return err
			})
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	s.holdMuch(tb)
	var both sync.WaitGroup
	stop := make(chan struct{})
	both.Add(2)
	go func() { defer both.Done(); s.send(stop) }()
	go func() { defer both.Done(); s.take() }()
	if s.back != nil {
		for _, c := range s.out {
			both.Add(1)
			go func() { defer both.Done(); s.takeBack(c) }()
		}
	}
	tb.Cleanup(func() {
		close(stop)
		_ = s.in.Close()
		for _, c := range s.out {
			_ = c.Close()
		}
		both.Wait()
	})
	return s
}

// holdMuch has the socket hold what comes while a busy machine does not read it.
func (s *stream) holdMuch(tb testing.TB) {
	tb.Helper()
	raw, err := s.in.(*net.UDPConn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20) })
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func (s *stream) send(stop chan struct{}) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			n := s.next.Load()
			_, _ = s.out[n%uint64(len(s.out))].Write(binary.BigEndian.AppendUint64(nil, n))
			s.next.Add(1)
		}
	}
}

func (s *stream) take() {
	for b := make([]byte, 64); ; {
		n, from, err := s.in.ReadFrom(b)
		if err != nil {
			return
		}
		s.note(b)
		if s.back != nil {
			_, _ = s.in.WriteTo(b[:n], from)
		}
	}
}

// takeBack what comes back of a flow.
func (s *stream) takeBack(c net.Conn) {
	for b := make([]byte, 64); ; {
		_, err := c.Read(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil { // that nobody was there is none
			s.back.note(b)
		}
	}
}

// note that a packet came.
func (s *stream) note(b []byte) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longest = max(s.longest, now.Sub(s.last))
	s.last = now
	s.times[binary.BigEndian.Uint64(b)]++
}

// whole fails the test if some packets, by their numbers, did not come once each, but for those that
// the machine dropped meanwhile, because another test floods it.
func (s *stream) whole(tb testing.TB, from, to, dropped uint64) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(interval) {
		lost, again := s.odd(from, to)
		if len(again) > 0 {
			tb.Fatalf("packets came again: %v", again)
		}
		if uint64(len(lost)) <= nstest.Dropped(tb)-dropped {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("of the packets %d to %d did not come: %v", from, to, lost)
		}
	}
}

// odd are the numbers that did not come, and those that came again.
func (s *stream) odd(from, to uint64) (lost, again []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := from; n < to; n++ {
		switch s.times[n] {
		case 0:
			lost = append(lost, n)
		case 1:
		default:
			again = append(again, n)
		}
	}
	return lost, again
}

// none tells whether no packet came of some, by their numbers.
func (s *stream) none(from, to uint64) bool {
	lost, again := s.odd(from, to)
	return uint64(len(lost)) == to-from && len(again) == 0
}

// begin to look for the longest time without a packet.
func (s *stream) begin(tb testing.TB) {
	tb.Helper()
	s.more(tb, 10)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longest = 0
}

// more waits until so many more packets came.
func (s *stream) more(tb testing.TB, n int) {
	tb.Helper()
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.times)
	}
	until := count() + n
	for deadline := time.Now().Add(time.Minute); count() < until; time.Sleep(interval) {
		if time.Now().After(deadline) {
			tb.Fatalf("%d packets came, and no more; want %d", count(), until)
		}
	}
}

// outage is the longest gap, less what is between two packets anyway.
func (s *stream) outage() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.longest-interval)
}

// TestTurnsBackWithoutLoss: no packet is lost while a function that had failed is led past, is well
// again, and has packets go through it.
func TestTurnsBackWithoutLoss(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, last))
	p.well("a")
	s := newStream(t, p)
	s.more(t, 10)
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	p.sends("client", "last")
	from, dropped := s.next.Load(), nstest.Dropped(t)
	s.more(t, 100)
	p.sh("a", nstest.Mends)
	p.well("a")
	p.sends("client", "")
	s.more(t, 100)
	s.whole(t, from+1, s.next.Load(), dropped)
}

// BenchmarkOutage is how long packets do not come when a function dies that is led past: its
// program killed, held still, or its interface taken away. Each time is after a rest in which the
// function is forgiven what it did before: it would be kept away from for longer each time. Some chains
// take their turns beside each other, as the rests are long.
func BenchmarkOutage(b *testing.B) {
	nstest.Require(b, feature.Tun, feature.Redirect)
	kill := func(signal syscall.Signal) func(*path, string) {
		return func(p *path, node string) { _ = syscall.Kill(p.running(node).PID, signal) }
	}
	nothing := func(*path, string) {}
	copies := strings.Replace(tunnel, "onFailure: bypass", "replicas: 2, onFailure: replica", 1)
	either := strings.Replace(first, "onFailure: bypass", "replicas: 2, onFailure: replica", 1)
	remove := func(p *path, node string) { p.sh(node, "ip link del eth1") }
	again := func(functions ...string) func(*path, string) {
		return func(p *path, _ string) { p.up(spec(functions...)) }
	}
	for _, c := range []struct {
		name, spec string
		nodes      []string // of which the one that packets come out of is harmed
		harm, mend func(p *path, node string)
	}{
		{"kill", spec(tunnel, last), []string{"bad"}, kill(syscall.SIGKILL), nothing},
		{"stop", spec(tunnel, last), []string{"bad"}, kill(syscall.SIGSTOP), nothing},
		{"interface", spec(first, last), []string{"a"}, remove, again(first, last)},
		{"replica-kill", spec(copies, last), []string{"bad-1", "bad-2"}, kill(syscall.SIGKILL), nothing},
		{"replica-stop", spec(copies, last), []string{"bad-1", "bad-2"}, kill(syscall.SIGSTOP), nothing},
		{"replica-interface", spec(either, last), []string{"a-1", "a-2"}, remove, again(either, last)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var mu sync.Mutex
			var all []time.Duration
			var lanes sync.WaitGroup
			for lane := range min(abreast, b.N) {
				p := newPath(b, c.spec)
				lanes.Add(1)
				go func() {
					defer lanes.Done()
					s := newStream(b, p)
					s.more(b, 2000) // who watches has seen by then that packets flow
					for n := lane; n < b.N && !b.Failed(); n += abreast {
						for _, one := range c.nodes { // what packets are to go on through, too
							p.until(one, "well, for long", func(h process.Health) bool { return isWell(h) && time.Since(h.Since) > rest })
						}
						node := p.carries(s, c.nodes...)
						before := p.until(node, "well", isWell).Failures
						s.begin(b)
						c.harm(p, node)
						p.until(node, "failed", func(h process.Health) bool { return h.Failures > before })
						s.more(b, 20)
						mu.Lock()
						all = append(all, s.outage())
						mu.Unlock()
						c.mend(p, node)
					}
				}()
			}
			lanes.Wait()
			if b.Failed() {
				return
			}
			report(b, all)
		})
	}
}

// carries tells which of some nodes the packets of a stream come out of.
func (p *path) carries(s *stream, nodes ...string) (most string) {
	p.Helper()
	count := func(node string) (n uint64) {
		p.port(p.watched(node).East, func(open *steer.Port) (err error) { n, err = open.Passed(); return })
		return n
	}
	before := map[string]uint64{}
	for _, n := range nodes {
		before[n] = count(n)
	}
	s.more(p, 100)
	for _, n := range nodes {
		if most == "" || count(n)-before[n] > count(most)-before[most] {
			most = n
		}
	}
	return most
}
