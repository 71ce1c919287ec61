package traffic_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestProcessMisbehaves runs programs that a tool should not be like: each ends in
// bounded time with a clear error and leaves no process.
func TestProcessMisbehaves(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{})
	for name, c := range map[string]struct {
		script, want string
		within       time.Duration
	}{
		"hangs":          {"sleep 1000", "sleeper on client hangs", 5 * time.Second},
		"hangs deaf":     {"trap '' TERM INT HUP; while :; do sleep 1; done", "hangs", 5 * time.Second},
		"fails":          {"echo it broke >&2; exit 3", `exit status 3: "it broke"`, time.Minute},
		"endless output": {"exec yes rubbish", "printed more than 64 MiB", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			traffictest.Replace(t, "sleeper", c.script)
			ctx, cancel := context.WithTimeout(context.Background(), c.within)
			defer cancel()
			p, err := job.StartClient(ctx, "sleeper")
			if err != nil {
				t.Fatal(err)
			}
			err = p.Wait(ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, job)
		})
	}
}

// TestProcessTakesChildren checks that what a tool starts ends with it, even in a
// session of its own.
func TestProcessTakesChildren(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{})
	for name, last := range map[string]string{"ends": "exit 0", "is killed": "sleep 1000"} {
		t.Run(name, func(t *testing.T) {
			traffictest.Replace(t, "parent", "sleep 1000 & setsid sleep 1000 & echo started; "+last)
			p, err := job.StartServer(context.Background(), "parent")
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Until(context.Background(), func() bool { return len(p.Stdout()) > 0 }, "it said nothing"); err != nil && last != "exit 0" {
				t.Error(err)
			}
			if last != "exit 0" {
				p.Kill()
			}
			_ = p.Wait(context.Background())
			traffictest.Empty(t, job)
		})
	}
}

func TestProcessInterrupted(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{})
	ctx, cancel := context.WithCancel(context.Background())
	p, err := job.StartClient(ctx, "sleep", "1000")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	traffictest.Empty(t, job)
}

func TestProcessNeverReady(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{})
	p, err := job.StartServer(context.Background(), "sh", "-c", "echo cannot listen >&2; exit 1")
	if err != nil {
		t.Fatal(err)
	}
	err = p.Until(context.Background(), func() bool { return false }, "it does not listen")
	if err == nil || !strings.Contains(err.Error(), "cannot listen") {
		t.Errorf("error %v", err)
	}
}

func TestProcessMissing(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{})
	if _, err := job.StartServer(context.Background(), "no-such-tool"); err == nil || !strings.Contains(err.Error(), "start no-such-tool on server") {
		t.Errorf("error %v", err)
	}
}

// TestProcessTells checks what an observer is told, and that all is told once
// Wait returns.
func TestProcessTells(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Affinity: "0"})
	var mu sync.Mutex
	var told []string
	job.Started = func(node string, pid int) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, "started "+node)
	}
	job.Ended = func(node, command string, s *os.ProcessState) {
		mu.Lock()
		defer mu.Unlock()
		if s.UserTime()+s.SystemTime() < 50*time.Millisecond {
			t.Errorf("%s used %v", command, s.UserTime())
		}
		told = append(told, "ended "+node+" "+command)
	}
	p, err := job.StartClient(context.Background(), "sh", "-c", "grep Cpus_allowed_list /proc/self/status; i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done")
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Wait(context.Background())
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(told, ", ") != "started client, ended client sh" {
		t.Errorf("told %q", told)
	}
	if got := strings.Fields(string(p.Stdout())); len(got) != 2 || got[1] != "0" {
		t.Errorf("ran on cores %q", got)
	}
}

func TestPortsFree(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Flows: 2})
	if err := job.PortsFree(); err != nil {
		t.Fatal(err)
	}
	nstest.Require(t, "tool.iperf3")
	p, err := job.StartServer(context.Background(), "iperf3", "-s", "-p", "5202")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	// To bind the port meanwhile, as PortsFree does, would take it from the server.
	if err := p.Until(context.Background(), func() bool { return netns.Listens(p.PID(), 5202) }, "it does not listen"); err != nil {
		t.Fatal(err)
	}
	if err := job.PortsFree(); err == nil || !strings.Contains(err.Error(), "port 5202") {
		t.Errorf("error %v", err)
	}
}
