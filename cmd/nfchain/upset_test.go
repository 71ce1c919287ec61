package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

// The tests of this file need a machine of their own: scripts/test-vm.

// upsetChain takes packets in threads, so that a test can say on which core.
var upsetChain = owned(`
apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: e2e-upset}
spec:
  tuning: {gro: true, threaded_napi: true}
  functions:
  - {name: fw, kind: forward}
`)

// upsetting measures a chain and does something to the machine in the middle of the trial.
func upsetting(t *testing.T, something func(ended chan struct{}), args ...string) upsetTrial {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(upsetChain), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nfchain", append([]string{"bench", file, "--repeats", "1", "--direct=false", "-o", "json", "--results", filepath.Join(dir, "results.db")}, args...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var failed error
	go func() {
		failed = cmd.Wait()
		close(ended)
	}()
	if awaitLoad(ended, 150) {
		something(ended)
	}
	if <-ended; failed != nil {
		t.Fatalf("%v\n%s", failed, said.String())
	}
	var run struct{ Trials []upsetTrial }
	if err := json.Unmarshal(out.Bytes(), &run); err != nil || len(run.Trials) != 1 {
		t.Fatalf("%v: %s", err, out.String())
	}
	t.Logf("%v\n%q", run.Trials[0].Metrics, run.Trials[0].Warnings)
	return run.Trials[0]
}

// awaitLoad waits until the function has taken so many more packets; false if the command
// has ended by then.
func awaitLoad(ended chan struct{}, packets uint64) bool {
	first, seen := uint64(0), false
	for {
		n, there := taken()
		switch {
		case there && !seen:
			first, seen = n, true
		case there && n >= first+packets:
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// taken is how many packets the function took, once it is there.
func taken() (uint64, bool) {
	h, err := netns.Open("nfchain." + own + "-upset.fw")
	if err != nil {
		return 0, false
	}
	defer h.Close()
	l, err := h.LinkByName("eth0")
	if err != nil {
		return 0, false
	}
	return l.Attrs().Statistics.RxPackets, true
}

// slowLoad is 4,000 packets in twenty seconds, from a core.
func slowLoad(core string) []string {
	return []string{"--traffic", "builtin", "--frame-size", "64", "--rate", "200pps", "--duration", "20s", "--affinity", core}
}

// strays are the packets, at most, that the kernel sends of its own over an interface
// meanwhile.
const strays = 100

// right tells what is wrong with the numbers of a trial of [slowLoad]. An emulated machine
// may lose packets: those that came are counted by the kernel's interfaces too.
func right(t *testing.T, tr upsetTrial) {
	t.Helper()
	m := tr.Metrics
	sent := m["offered_pps"] * 20 * (1 - m["unsent_ratio"])
	came := sent * (1 - m["loss_ratio"])
	first, last := tr.counts("fw", "eth0"), tr.counts("server", "eth0")
	lost := tr.counts("client", "eth0").TxDropped
	if m["offered_pps"] != 200 || came < 1000 {
		t.Errorf("%v packets a second were due, and %v came", m["offered_pps"], came)
	}
	if off := float64(first.RxPackets+lost) - sent; off < -0.5 || off > strays {
		t.Errorf("%v packets were sent, %d came to the first function and %d were lost before it", sent, first.RxPackets, lost)
	}
	if off := float64(last.RxPackets) - came; off < -0.5 || off > strays {
		t.Errorf("%v packets came, and %d to the last interface", came, last.RxPackets)
	}
	if low, high := m["one_way_latency_min_ns"], m["one_way_latency_max_ns"]; low <= 0 || high > tr.DurationS*1e9 || tr.DurationS > 300 {
		t.Errorf("latencies from %v to %v ns in a trial of %v s", low, high, tr.DurationS)
	}
}

// upsetTrial is what these tests read of a trial.
type upsetTrial struct {
	Metrics   map[string]float64
	Warnings  []string
	DurationS float64 `json:"duration_s"`
	Observed  trial.Observation
}

func (tr upsetTrial) counts(node, device string) trial.InterfaceCounts {
	for _, c := range tr.Observed.Interfaces {
		if c.Node == node && c.Interface == device {
			return c
		}
	}
	return trial.InterfaceCounts{}
}

func warned(t *testing.T, tr upsetTrial, parts ...string) {
	t.Helper()
	all := strings.Join(tr.Warnings, "\n")
	for _, part := range parts {
		if !strings.Contains(all, part) {
			t.Errorf("no warning tells %q", part)
		}
	}
}

// TestCoreTakenAway takes the generator's core away while it sends, and then that on which
// the meter's packets are taken.
func TestCoreTakenAway(t *testing.T) {
	nstest.Machine(t)
	for _, c := range []struct {
		name, generator string
		warning         string
	}{
		{"generator's", "1", "the core of the generator was taken away while it sent"},
		{"meter's", "0", "of the packets reached the meter on the core that generates them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer online(t, true)
			tr := upsetting(t, func(ended chan struct{}) {
				pollOn(t, 1)
				awaitLoad(ended, 300)
				online(t, false)
			}, slowLoad(c.generator)...)
			right(t, tr)
			warned(t, tr, "core 1 was taken away during the trial", c.warning)
			if fmt.Sprint(tr.Observed.CoresLost) != "[1]" {
				t.Errorf("cores %v were taken away", tr.Observed.CoresLost)
			}
		})
	}
}

// online puts core 1 there or takes it away.
func online(t *testing.T, there bool) {
	t.Helper()
	text := "0"
	if there {
		text = "1"
	}
	const file = "/sys/devices/system/cpu/cpu1/online"
	if now, _ := os.ReadFile(file); strings.TrimSpace(string(now)) == text {
		return
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

// pollOn binds all threads that take packets off interfaces to a core.
func pollOn(t *testing.T, core int) {
	t.Helper()
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	found := 0
	for _, name := range names {
		text, _ := os.ReadFile(name)
		var pid int
		if _, err := fmt.Sscanf(name, "/proc/%d/comm", &pid); err != nil || !strings.HasPrefix(string(text), "napi/") {
			continue
		}
		var only unix.CPUSet
		only.Set(core)
		if err := unix.SchedSetaffinity(pid, &only); err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(string(text)), err)
		}
		found++
	}
	if found == 0 {
		t.Error("no thread takes packets")
	}
}

// TestClockSet sets the wall clock by an hour, forth and back, while a load is under way.
func TestClockSet(t *testing.T) {
	nstest.Machine(t)
	for _, c := range []struct {
		by   time.Duration
		said string
	}{{time.Hour, "by 1h0m0s"}, {-time.Hour, "by -1h0m0s"}} {
		t.Run(c.by.String(), func(t *testing.T) {
			tr := upsetting(t, func(chan struct{}) { setClock(t, c.by) }, slowLoad("1")...)
			right(t, tr)
			warned(t, tr, c.said+": builtin measures by another clock")
			if set := tr.Observed.ClockSetS; set == nil || math.Abs(*set-c.by.Seconds()) > 1 {
				t.Errorf("the clock was set by %v", set)
			}
		})
		t.Run("ping, "+c.by.String(), func(t *testing.T) {
			tr := upsetting(t, func(chan struct{}) { setClock(t, c.by) }, "--traffic", "ping", "--protocol", "latency", "--duration", "1s")
			warned(t, tr, c.said+": ping measures by that clock")
		})
	}
}

// setClock by so much, as the kernel does it in one step: on a busy machine time goes by between reading a clock and setting it.
func setClock(t *testing.T, by time.Duration) {
	t.Helper()
	if _, err := unix.Adjtimex(&unix.Timex{Modes: unix.ADJ_SETOFFSET, Time: unix.NsecToTimeval(int64(by))}); err != nil {
		t.Error(err)
	}
}
