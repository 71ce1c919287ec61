package builtin

import (
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestThroughAPacketSocket sends frames that are too long for the kernel's own source.
func TestThroughAPacketSocket(t *testing.T) {
	for name, c := range map[string]trial.Condition{
		"jumbo":  {OfferedPps: 1000, Frames: trial.Frames{FrameSize: 9018}},
		"IPv6":   {OfferedPps: 1000, Flows: 30, Frames: trial.Frames{FrameSize: 5000, IPVersion: 6}},
		"mix":    {OfferedPps: 1000, Frames: trial.Frames{IMIX: "ag{9018}"}},
		"bursts": {OfferedPps: 1000, Frames: trial.Frames{IMIX: "{4000}", Burst: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRouted(t, c)
			for ref, devices := range map[string][]string{r.ClientNetns: {"eth0"}, r.router: {"eth0", "eth1"}, r.ServerNetns: {"eth0"}} {
				h := nstest.Open(t, ref)
				for _, d := range devices {
					l, err := h.LinkByName(d)
					must(t, err)
					must(t, h.LinkSetMTU(l, 9004))
				}
			}
			s := r.whole(t)
			o := raw(t, s)
			if o.Sent+o.Unsent != 1000 || o.Received != o.Sent || o.Reordered != 0 {
				t.Errorf("%d of %d came, %d were not sent", o.Received, o.Sent, o.Unsent)
			}
			if len(s.Warnings) == 0 {
				t.Error("nothing says that it was a packet socket")
			}
		})
	}
}

// TestScheduleIsThePace counts what is due in a second.
func TestScheduleIsThePace(t *testing.T) {
	for _, p := range []pace{
		{pps: 1, burst: 1}, {pps: 1200, burst: 1}, {pps: 3333.3, burst: 1}, {pps: 100_000, burst: 64}, {pps: 7, burst: 1},
	} {
		p.duration = time.Second
		const begin = 1 << 40
		s, n := newSchedule(p, begin, 1), uint64(0)
		for ; s.due < begin+1e9; s.advance() {
			n++
		}
		if n != p.intended() {
			t.Errorf("%v pps in bursts of %d: %d are due in a second, want %d", p.pps, p.burst, n, p.intended())
		}
	}
}

// TestSchedulePoisson has the mean and the spread of an exponential distribution.
func TestSchedulePoisson(t *testing.T) {
	const n = 200_000
	s := newSchedule(pace{pps: 12_345, burst: 1, pattern: poisson, duration: time.Hour}, 0, 7)
	var sum, squares float64
	for range n {
		before := s.due
		s.advance()
		gap := float64(s.due-before) * 12_345 / 1e9
		sum += gap
		squares += gap * gap
	}
	mean := sum / n
	if deviation := math.Sqrt(squares/n - mean*mean); math.Abs(mean-1) > 0.01 || math.Abs(deviation-1) > 0.02 {
		t.Errorf("gaps have a mean of %v and a deviation of %v, in units of the mean that was asked for", mean, deviation)
	}
}

// TestWrittenChecksums adds up those that are written outside the kernel.
func TestWrittenChecksums(t *testing.T) {
	l := load{headers: headers{fromMAC: make(net.HardwareAddr, 6), toMAC: make(net.HardwareAddr, 6), signature: rand.Uint32(),
		from: netip.MustParseAddr("2001:db8::1"), to: netip.MustParseAddr("2001:db8::2")}, port: 5201}
	s, err := l.shape(100)
	must(t, err)
	for range 1000 {
		frame := make([]byte, 96)
		l.write(frame, &s, mark{rand.Uint32N(1 << 20), rand.Uint32(), rand.Uint64(), rand.Uint32()&1 == 0})
		if got := checksum(frame); got != 0xffff {
			t.Fatalf("the checksum adds up to %#x in % x", got, frame)
		}
	}
}
