package builtin

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestWithoutBPF sends and takes through packet sockets, as where BPF is refused.
func TestWithoutBPF(t *testing.T) {
	for name, c := range map[string]trial.Condition{
		"IPv4":  {OfferedPps: 2000},
		"IPv6":  {OfferedPps: 2000, Flows: 20_000, Frames: trial.Frames{IPVersion: 6}},
		"large": {OfferedPps: 500, Frames: trial.Frames{FrameSize: 1518}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRouted(t, c)
			l, e, err := loadOf(r.Job)
			must(t, err)
			l.way = wayPacket
			o := withoutBPF(t, e, l)
			if due := o.Progress.Sent + o.Unsent; float64(due) != c.OfferedPps || o.Order.Arrivals+o.Unread != o.Progress.Sent {
				t.Errorf("%d of %d came, %d were not sent, %d not read", o.Order.Arrivals, o.Progress.Sent, o.Unsent, o.Unread)
			}
			if flows := c.Flows; len(o.ByFlow) != flows { // none where there is one
				t.Errorf("%d flows are told apart, of %d", len(o.ByFlow), flows)
			}
			if o.Count.Early != 0 || o.Count.Low == 0 || o.Count.High < o.Count.Low-1 {
				t.Errorf("one-way times from %d to %d, %d of them early", o.Count.Low, o.Count.High, o.Count.Early)
			}
			s, err := sample([]outcome{o})
			if err != nil || !strings.Contains(strings.Join(s.Warnings, "\n"), "packet socket") {
				t.Error(s.Warnings, err)
			}
			if n := errorsSent(t, r.ServerNetns); n != 0 {
				t.Errorf("the server answered %d packets with errors", n)
			}
		})
	}
}

// withoutBPF runs a load from a packet socket to one.
func withoutBPF(t *testing.T, e ends, l load) outcome {
	t.Helper()
	a, _ := packetLane(t, e, l)
	defer func() { a.close() }()
	must(t, a.ready())
	must(t, a.run(context.Background()))
	o, err := a.outcome()
	must(t, err)
	return o
}

// packetLane has a packet socket for a sink.
func packetLane(t *testing.T, e ends, l load) (*lane, *packetSink) {
	t.Helper()
	a, err := newLane(e, l)
	must(t, err)
	a.meter.close()
	to := nstest.Open(t, e.to)
	in, err := traffic.Entrance(to, e.address)
	must(t, err)
	s, err := newPacketSink(meterOptions{netns: e.to, device: in, signature: l.signature, ports: l.targetPorts(), flows: l.flows, steps: l.steps})
	must(t, err)
	a.meter = s
	return a, s
}

// errorsSent is how many packets a namespace answered with ICMP's unreachable.
func errorsSent(t *testing.T, ref string) (n int) {
	t.Helper()
	nstest.Require(t, feature.ToolIP)
	var out []byte
	must(t, netns.Do(ref, func() (err error) {
		out, err = exec.Command("sh", "-c", `awk '/^Icmp:/ && !/InMsgs/ {print "v4", $16} /^Icmp6OutDestUnreachs/ {print "v6", $2}' /proc/self/net/snmp /proc/self/net/snmp6`).Output()
		return err
	}))
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if f := strings.Fields(line); len(f) == 2 && f[1] != "0" {
			t.Logf("%s: %s", f[0], f[1])
			n++
		}
	}
	return n
}

// TestParseIsTheKernels gives both sinks the same packets, whole and damaged.
func TestParseIsTheKernels(t *testing.T) {
	o := newOffline(t)
	o.take(t, 0, monotonic(t))
	r, damaged := rand.New(rand.NewPCG(1, 1)), uint64(0)
	for range 2000 {
		b := append([]byte(nil), o.frame[:14+r.IntN(47)]...)
		for range r.IntN(3) {
			b[12+r.IntN(len(b)-12)] ^= 1 << r.IntN(8)
		}
		verdict, _, err := o.objects.Sink.Test(b)
		must(t, err)
		p, ours := parsePacket(b, testSignature)
		if ours != (verdict == 1) {
			t.Fatalf("ours %v here, verdict %d in the kernel: % x", ours, verdict, b)
		}
		if ours && p.damaged {
			damaged++
		}
	}
	c, err := o.count()
	must(t, err)
	if c.Damaged != damaged || damaged == 0 {
		t.Errorf("%d packets are damaged here, %d in the kernel", damaged, c.Damaged)
	}
}
