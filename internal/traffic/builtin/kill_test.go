package builtin

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// victimEnv has the namespaces that a child measures between.
const victimEnv = "NFCHAIN_TEST_VICTIM"

// TestVictim is the child of TestKilled.
func TestVictim(t *testing.T) {
	ends := os.Getenv(victimEnv)
	if ends == "" {
		return
	}
	client, server, _ := strings.Cut(ends, " ")
	_, err := Tool{}.Run(context.Background(), traffic.Job{FirstPort: 5201,
		Condition: trial.Condition{Flows: 1, DurationS: 600, OfferedPps: 1000},
		Ends:      traffic.Ends{ClientNetns: client, ServerNetns: server, Address: netip.MustParseAddr("198.51.100.2")}})
	t.Fatal("the trial ended:", err)
}

// TestKilled kills a run in the middle: nothing of it is left attached.
func TestKilled(t *testing.T) {
	// At a rate that a busy machine carries too: at full speed the chain may lose.
	r := newRouted(t, trial.Condition{OfferedPps: 1000})
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), victimEnv+"="+r.ClientNetns+" "+r.ServerNetns)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	within(t, "the child never attached its programs", func() bool {
		return attached(t, r.ServerNetns, "eth0") && attached(t, r.router, "eth0") && received(t, r.ServerNetns) > 100
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	within(t, "a program is attached after the child was killed", func() bool {
		return !attached(t, r.ServerNetns, "eth0") && !attached(t, r.router, "eth0")
	})
	before := received(t, r.ServerNetns)
	if s := r.whole(t); s.Metrics["loss_ratio"] != 0 { // and it all works again
		t.Errorf("after the kill: %v", s.Metrics)
	}
	if received(t, r.ServerNetns) == before {
		t.Error("the counters of the server do not move: the test does not see traffic")
	}
}

// within some time something holds; the time only bounds a failure.
func within(t *testing.T, wrong string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(wrong)
		}
	}
}

// attached tells whether a device has an XDP program.
func attached(t *testing.T, ref, device string) bool {
	t.Helper()
	l := look(t, ref, device)
	return l.Xdp != nil && l.Xdp.Attached
}

func received(t *testing.T, ref string) uint64 {
	t.Helper()
	return look(t, ref, "eth0").Statistics.RxPackets
}

// look at a device.
func look(t *testing.T, ref, device string) *netlink.LinkAttrs {
	t.Helper()
	h, err := netns.Open(ref)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	l, err := h.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs()
}

// TestProgramIsThere has a function with an XDP program of its own on the interface
// that the generator sends to: it stays, and the frames go through it.
func TestProgramIsThere(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 1000})
	m, err := loadMeter(meterOptions{}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	l, err := nstest.Open(t, r.router).LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	if err := netns.Do(r.router, func() (err error) {
		m.link, err = link.AttachXDP(link.XDPOptions{Program: m.objects.Sink, Interface: l.Attrs().Index, Flags: link.XDPDriverMode})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	o := raw(t, r.run(t))
	if n, err := m.strangers(); err != nil || n < o.Sent || o.Received != o.Sent {
		t.Errorf("%d of %d came, the function saw %d: %v", o.Received, o.Sent, n, err)
	}
}

// TestInterrupted ends a trial before its time, and leaves nothing attached.
func TestInterrupted(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 1000, DurationS: 600})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := Tool{}.Run(ctx, r.Job)
		ended <- err
	}()
	within(t, "nothing is sent", func() bool { return received(t, r.ServerNetns) > 100 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error("a trial that was interrupted:", err)
	}
	if attached(t, r.ServerNetns, "eth0") || attached(t, r.router, "eth0") {
		t.Error("a program is attached after the trial")
	}
}
