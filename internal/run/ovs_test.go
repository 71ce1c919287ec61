package run_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestSwitchDiesInATrial: what the tool saw of it is not stored, whatever it says, the
// error names what died, and nothing is left.
func TestSwitchDiesInATrial(t *testing.T) {
	nstest.Require(t, feature.ToolOVS, feature.Tun)
	b := newBed(t, "wiring: ovs\nfunctions: [{name: a, kind: forward}]\n")
	trials, daemons := 0, map[string][]int{}
	m, r := b.measurement(load(3, trial.TCP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if trials++; trials == 3 {
			var err error
			if daemons, err = netns.Processes([]string{namespace.Name(b.name(), plan.WiringNode)}); err != nil {
				return traffic.Sample{}, err
			}
			killDaemon(t, b.name())
		}
		return sampled(ctx, job)
	}})
	err := m.Run(context.Background(), r)
	if err == nil || !strings.Contains(err.Error(), "ovs-vswitchd of chain "+b.name()+" has ended") {
		t.Errorf("it does not say what died: %v", err)
	}
	stored := b.stored(r.ID)
	if stored.State != trial.Failed || len(stored.Trials) != 2 {
		t.Errorf("%s with %d trials, want failed with 2", stored.State, len(stored.Trials))
	}
	b.gone()
	for _, pid := range slices.Concat(slices.Collect(maps.Values(daemons))...) {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(text), ovs.Dir(b.name())) {
			t.Errorf("process %d is left: %q", pid, text)
		}
	}
	if len(daemons) == 0 {
		t.Error("no daemons were seen")
	}
	// Of those before it is stored what switched them, and how busy that was.
	if s := stored.Setups[0].WiringSettings; s["datapath"] != "netdev" && s["datapath"] != "system" {
		t.Errorf("the wiring's settings are %v", s)
	}
	followed := false
	for _, p := range stored.Trials[0].Observed.Processes {
		followed = followed || p.Node == plan.WiringNode && p.Command == "ovs-vswitchd"
	}
	if !followed {
		t.Errorf("the daemon was not followed: %+v", stored.Trials[0].Observed.Processes)
	}
}

// killDaemon of a chain and wait for its end.
func killDaemon(t *testing.T, chain string) {
	t.Helper()
	text, err := os.ReadFile(ovs.Dir(chain) + "/ovs-vswitchd.pid")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		t.Fatal(err)
	}
	for {
		if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err == nil && n > 0 {
			return
		}
	}
}
