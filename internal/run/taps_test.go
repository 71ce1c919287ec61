package run_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
)

// TestDeadTaps cost the path no packet: neither one whose program is stopped, nor one that is slow, down
// or removed. What it did not take is told.
func TestDeadTaps(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.QdiscTBF, feature.ToolIP, feature.ToolTC)
	for _, c := range []struct {
		what, beside, inside string
		// loses copies before the tap; one that is stopped takes them, and nobody reads them.
		loses bool
	}{
		{"stopped", "", "", false},
		{"slow", "tc qdisc add dev $TAP root tbf rate 8kbit burst 2k limit 2k", "", true},
		{"down", "", "ip link set eth0 down", true},
		{"removed", "", "ip link del eth0", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newBed(t, "wiring: ebpf\nfunctions:\n- {name: watch, kind: mirror, runtime: inline}\n- {name: a, kind: forward}\n")
			b.up(run.UpOptions{Wait: true})
			p, err := b.host.Plan(b.chain, nil, planOptions)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(p.Beside(), func(n string) bool { return strings.HasSuffix(n, ".tap") })
			if i < 0 {
				t.Fatal(p.Beside())
			}
			tap := nstest.Open(t, p.Beside()[i])
			stopped(t, tap)
			const many = 300
			if got := b.numbered("forward", 0, many); len(got) != many || !slices.IsSorted(got) {
				t.Errorf("before: of %d came %d", many, len(got))
			}
			before := b.copies()
			if before.Packets < many {
				t.Fatalf("copies %+v", before)
			}
			b.shell(tap, c.inside)
			forwarder := nstest.Open(t, p.Between())
			b.shell(forwarder, strings.ReplaceAll(c.beside, "$TAP", "$(ls /sys/class/net | grep ^tap)"))
			for _, way := range []string{"forward", "reverse"} {
				for family := range 2 {
					if got := b.numbered(way, family, many); len(got) != many || !slices.IsSorted(got) {
						t.Errorf("%s, family %d: of %d came %d", way, family, many, len(got))
					}
				}
			}
			after := b.copies()
			if n := after.Packets + after.Lost - before.Packets - before.Lost; n < 2*many || (after.Lost > before.Lost) != c.loses {
				t.Errorf("copies %+v, and before %+v", after, before)
			}
		})
	}
}

// stopped is a program in a tap that reads nothing, and whose socket holds little.
func stopped(t *testing.T, h *netns.Handle) {
	t.Helper()
	fd := -1
	err := h.Do(func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0x300) // ETH_P_ALL, as it is in the packet
		return err
	})
	if err == nil {
		t.Cleanup(func() { _ = unix.Close(fd) })
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shell runs a line in a namespace, if there is one.
func (b *bed) shell(h *netns.Handle, line string) {
	b.Helper()
	if line == "" {
		return
	}
	if out, err := exec.Command("ip", "netns", "exec", h.Ref, "sh", "-ec", line).CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// copies that the first inline function of the chain made of packets that go forward.
func (b *bed) copies() run.StepState {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	s, err := run.Inspect(b.Context(), p)
	if err != nil || len(s.Inline) == 0 || s.Inline[0].Forward == nil {
		b.Fatalf("%+v, error %v", s, err)
	}
	return *s.Inline[0].Forward
}
