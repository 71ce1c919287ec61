package run_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestDeadTapsOfNamespaces: the same of a mirror that has one.
func TestDeadTapsOfNamespaces(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.Redirect, feature.QdiscTBF, feature.ToolIP, feature.ToolTC)
	for what, c := range map[string]struct{ beside, inside string }{
		"stopped": {},
		"slow":    {beside: "tc qdisc add dev tap0 root tbf rate 8kbit burst 2k limit 2k"},
		"down":    {inside: "ip link set eth0 down"},
		"removed": {inside: "ip link del eth0"},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBed(t, "wiring: ebpf\nfunctions:\n- {name: watch, kind: mirror}\n- {name: a, kind: forward}\n")
			b.up(run.UpOptions{Wait: true})
			p, err := b.host.Plan(b.chain, nil, planOptions)
			if err != nil {
				t.Fatal(err)
			}
			mirror := p.Nodes[1].Namespace
			tap := nstest.Open(t, mirror+".tap")
			stopped(t, tap)
			const many = 300
			if got := b.numbered("forward", 0, many); len(got) != many {
				t.Errorf("before: of %d came %d", many, len(got))
			}
			if l, err := tap.LinkByName("eth0"); err != nil || l.Attrs().Statistics.RxPackets < many {
				t.Fatalf("the tap got %+v, error %v", l, err)
			}
			b.shell(tap, c.inside)
			b.shell(nstest.Open(t, mirror), c.beside)
			for _, way := range []string{"forward", "reverse"} {
				for family := range 2 {
					if got := b.numbered(way, family, many); len(got) != many || !slices.IsSorted(got) {
						t.Errorf("%s, family %d: of %d came %d", way, family, many, len(got))
					}
				}
			}
		})
	}
}

// TestTapsTakeTime of cores: making copies does, and so do programs in the tap.
func TestTapsTakeTime(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	b := newBed(t, "wiring: ebpf\nfunctions:\n- {name: watch, kind: mirror, runtime: inline}\n- {name: a, kind: forward}\n")
	b.up(run.UpOptions{Wait: true})
	s := state(t, b.host, b.name())
	if len(s.Taps) != 1 || s.Taps[0].Name != "watch.tap" || s.Taps[0].Function != "watch" || s.Taps[0].CopyingS == nil || len(s.Taps[0].Programs) != 0 {
		t.Fatalf("%+v", s.Taps)
	}
	program := exec.Command("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 1000 & wait")
	program.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if err := netns.Start(s.Taps[0].Namespace, program); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = unix.Kill(-program.Process.Pid, unix.SIGKILL)
		_ = program.Wait()
	}()
	began := time.Now()
	for deadline := began.Add(time.Minute); ; {
		const many = 100
		if got := b.numbered("forward", 0, many); len(got) != many {
			t.Errorf("of %d came %d", many, len(got))
		}
		tap := state(t, b.host, b.name()).Taps[0]
		i := slices.IndexFunc(tap.Programs, func(p run.TapProgram) bool { return p.PID == program.Process.Pid })
		if i >= 0 && tap.Programs[i].CPUS > 0 && *tap.CopyingS > 0 {
			if p := tap.Programs[i]; p.Command != "sh" || p.CPUS > time.Since(began).Seconds()+1 || *tap.CopyingS > 60 {
				t.Errorf("%+v, copying %v s", p, *tap.CopyingS)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v, copying %v s", tap, *tap.CopyingS)
		}
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
