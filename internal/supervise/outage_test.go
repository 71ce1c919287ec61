package supervise_test

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// interval of the packets by which outages are measured.
const interval = time.Millisecond

// stream is packets from the first end to the second, and how long none came.
type stream struct {
	out net.Conn
	in  net.PacketConn

	mu      sync.Mutex
	last    time.Time
	longest time.Duration
	came    int
}

func newStream(b *testing.B, p *path) *stream {
	b.Helper()
	s := &stream{}
	at := netip.AddrPortFrom(p.addresses(p.Client(), p.Server())[0], 7013).String()
	err := netns.Do(p.Server().Namespace, func() (err error) { s.in, err = net.ListenPacket("udp", at); return })
	if err == nil {
		err = netns.Do(p.Client().Namespace, func() (err error) { s.out, err = net.Dial("udp", at); return })
	}
	if err != nil {
		b.Fatal(err)
	}
	var both sync.WaitGroup
	stop := make(chan struct{})
	both.Add(2)
	go func() { defer both.Done(); s.send(stop) }()
	go func() { defer both.Done(); s.take() }()
	b.Cleanup(func() {
		close(stop)
		_ = s.in.Close()
		both.Wait()
		_ = s.out.Close()
	})
	return s
}

func (s *stream) send(stop chan struct{}) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			_, _ = s.out.Write([]byte("packet"))
		}
	}
}

func (s *stream) take() {
	for b := make([]byte, 64); ; {
		if _, _, err := s.in.ReadFrom(b); err != nil {
			return
		}
		now := time.Now()
		s.mu.Lock()
		s.longest = max(s.longest, now.Sub(s.last))
		s.last = now
		s.came++
		s.mu.Unlock()
	}
}

// begin to look for the longest time without a packet.
func (s *stream) begin() {
	s.more(10)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longest = 0
}

// more waits until so many more packets came.
func (s *stream) more(n int) {
	count := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.came
	}
	for until := count() + n; count() < until; time.Sleep(interval) {
	}
}

// outage is the longest gap, less what is between two packets anyway.
func (s *stream) outage() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.longest-interval)
}

// BenchmarkOutage is how long packets do not come when a function dies that is led past: its
// program killed, held still, or its interface taken away.
func BenchmarkOutage(b *testing.B) {
	nstest.Require(b, feature.Tun, feature.Redirect)
	kill := func(signal syscall.Signal) func(*path) {
		return func(p *path) { _ = syscall.Kill(p.program("bad").PID, signal) }
	}
	for _, c := range []struct {
		name, node, spec string
		harm, mend       func(*path)
	}{
		{"kill", "bad", spec(tunnel, last), kill(syscall.SIGKILL), func(*path) {}},
		{"stop", "bad", spec(tunnel, last), kill(syscall.SIGSTOP), func(*path) {}},
		{"interface", "a", spec(first, last), func(p *path) { p.sh("a", "ip link del eth1") }, func(p *path) { p.up(spec(first, last)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := newPath(b, c.spec)
			s := newStream(b, p)
			var all []time.Duration
			for range b.N {
				before := p.until(c.node, "well", isWell).Failures
				s.begin()
				c.harm(p)
				p.until(c.node, "failed", func(h process.Health) bool { return h.Failures > before })
				s.more(20)
				all = append(all, s.outage())
				c.mend(p)
			}
			slices.Sort(all)
			for name, at := range map[string]int{"p50": len(all) / 2, "p99": len(all) * 99 / 100, "max": len(all) - 1} {
				b.ReportMetric(float64(all[at])/1e6, name+"-ms")
			}
		})
	}
}
