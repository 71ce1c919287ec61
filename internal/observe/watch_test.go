package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

// burn is a program that keeps a core busy until it is killed.
func burn(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// awaitBusy waits until the programs have used a fifth of a second of a core each,
// which takes longer where others want the cores too.
func awaitBusy(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil {
				t.Fatal(err)
			}
			var user, system int
			fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
			_, errU := fmt.Sscan(fields[11], &user)
			_, errS := fmt.Sscan(fields[12], &system)
			if errU != nil || errS != nil {
				t.Fatalf("/proc/%d/stat: %s", pid, text)
			}
			if user+system >= 20 { // ticks of 10 ms
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("process %d gets no core", pid)
			}
		}
	}
}

func TestWatchOfThisMachine(t *testing.T) {
	old := burn(t)
	var young, looks atomic.Int64
	w, err := Start(t.Context(), Targets{
		Every: 20 * time.Millisecond,
		Processes: func() map[string][]int {
			looks.Add(1)
			return map[string][]int{"server": {old.Process.Pid}, "client": {int(young.Load())}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tool := burn(t)
	young.Store(int64(tool.Process.Pid))
	awaitBusy(t, old.Process.Pid, tool.Process.Pid)
	// The second look from now on begins after the first has seen them busy.
	for seen, deadline := looks.Load(), time.Now().Add(2*time.Minute); looks.Load() < seen+2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody looks any more")
		}
	}
	_ = tool.Process.Kill()
	_ = tool.Wait() // gone before the end: its last value stands
	got, err := w.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkCores(t, got.CPUs)
	if len(got.Processes) != 2 || got.Processes[0].Node != "client" || got.Processes[0].PID != tool.Process.Pid {
		t.Fatalf("processes: %+v", got.Processes)
	}
	for _, p := range got.Processes {
		if used := p.UserS + p.SystemS; p.Command != "sh" || used < 0.05 || used > 120 || p.MemoryPeak == nil {
			t.Errorf("process %+v", p)
		}
	}
	if got.MemoryUsed == nil || *got.MemoryUsed == 0 {
		t.Error("no memory is used")
	}
}

// checkCores compares with what must be: every core, shares that add up, and two
// busy programs on them.
func checkCores(t *testing.T, cores []trial.CPUUse) {
	t.Helper()
	busy := 0.0
	for _, c := range cores {
		sum := c.User + c.System + c.Softirq + c.Idle + c.Steal
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the shares of %+v add up to %v", c, sum)
		}
		busy += c.User + c.System
	}
	if len(cores) < runtime.NumCPU() || busy < 0.3 {
		t.Errorf("%d cores, busy %v: %+v", len(cores), busy, cores)
	}
}

func TestEndedIsExact(t *testing.T) {
	cmd := burn(t)
	w, err := Start(t.Context(), Targets{
		Every:     10 * time.Millisecond,
		Processes: func() map[string][]int { return map[string][]int{"client": {cmd.Process.Pid}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	w.Ended("client", "iperf3", cmd.ProcessState)
	got, err := w.Stop(t.Context())
	if err != nil || len(got.Processes) != 1 {
		t.Fatalf("%+v, %v", got.Processes, err)
	}
	p, state := got.Processes[0], cmd.ProcessState
	if p.Command != "iperf3" || p.UserS != state.UserTime().Seconds() || p.SystemS != state.SystemTime().Seconds() || p.MemoryPeak == nil {
		t.Errorf("got %+v, want %v and %v", p, state.UserTime(), state.SystemTime())
	}
}

func TestInterfacesAndTheirErrors(t *testing.T) {
	failed := errors.New("namespace is gone")
	calls := 0
	dump := func(context.Context) ([]trial.InterfaceCounts, error) {
		calls++
		if calls == 3 {
			return nil, failed
		}
		return []trial.InterfaceCounts{{Node: "fw", Interface: "eth0", RxPackets: uint64(calls * 100)}}, nil
	}
	w, err := Start(t.Context(), Targets{Interfaces: dump})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Stop(t.Context()); err != nil || got.Interfaces[0].RxPackets != 100 {
		t.Errorf("%+v, %v", got.Interfaces, err)
	}
	if _, err := Start(t.Context(), Targets{Interfaces: dump}); !errors.Is(err, failed) {
		t.Errorf("Start: %v", err)
	}
	calls = 1
	if w, err = Start(t.Context(), Targets{Interfaces: dump}); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Stop(t.Context()); !errors.Is(err, failed) || got.MemoryUsed == nil {
		t.Errorf("Stop: %+v, %v", got, err)
	}
}

func TestWhatCannotBeToldIsAbsent(t *testing.T) {
	w, err := Start(t.Context(), Targets{Files: tree(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(got); string(b) != `{"cpus":[],"processes":[],"interfaces":[]}` {
		t.Errorf("got %s", b)
	}
}

func TestCancelledWatchStillTells(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := Start(ctx, Targets{Every: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	time.Sleep(20 * time.Millisecond)
	if got, err := w.Stop(t.Context()); err != nil || len(got.CPUs) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := w.Stop(t.Context()); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}
