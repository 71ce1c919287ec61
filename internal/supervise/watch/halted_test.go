package watch

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestHalted tells processes that are stopped, or have ended, from those that wait, and from one of which the first thread alone
// has ended.
func TestHalted(t *testing.T) {
	for name, cmd := range map[string]*exec.Cmd{"of one thread": exec.Command("sleep", "1000"), "without its first thread": exec.Command("/proc/self/exe")} {
		t.Run(name, func(t *testing.T) {
			cmd.Env = []string{firstEnds + "=1"}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid := cmd.Process.Pid
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			until := func(what string, is func() bool) {
				t.Helper()
				for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatalf("%s: it is %q", what, halted(pid))
					}
				}
			}
			if cmd.Args[0] != "sleep" {
				until("its first thread is to end", func() bool { how, _ := haltedThread(fmt.Sprintf("/proc/%d/stat", pid)); return how == ends })
			}
			for _, c := range []struct {
				signal syscall.Signal
				want   string
			}{{syscall.SIGCONT, ""}, {syscall.SIGSTOP, "is stopped"}, {syscall.SIGCONT, ""}, {syscall.SIGKILL, ends}} {
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
				until(fmt.Sprintf("after %v", c.signal), func() bool { return halted(pid) == c.want })
			}
		})
	}
	if how := halted(os.Getpid()); how != "" {
		t.Errorf("this one %s", how)
	}
	if how := halted(0) + halted(1<<30); how != "" {
		t.Errorf("nobody %s", how)
	}
}

// TestDyingIsNotWell: a function whose program ends has failed at once, and is not well again, though probes come through, which the kernel may pass on
// by itself, until it is told what became of the next one.
func TestDyingIsNotWell(t *testing.T) {
	for _, told := range []bool{true, false} { // by the tracepoint, or found when a probe is missing
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		n, now := newNode("1", true, false), time.Now()
		n.spec.Programs = []string{"f"}
		alarm, err := newAlarm()
		if err != nil {
			t.Fatal(err)
		}
		defer alarm.close()
		w := &Watcher{config: Config{Say: func(string, string) {}}, path: process.Path{Forwarder: "nobodys"}, alarm: alarm, pids: map[string]int{}, unready: map[string]string{},
			programs: map[string]string{}, ended: map[string]string{}, nodes: []*node{n}, ports: map[string]*port{"": {}}}
		w.Note(process.Status{Node: "f", State: process.Running, PID: cmd.Process.Pid, BeganNs: 1})
		if w.Dies("f"); len(w.ended) > 0 {
			t.Errorf("it runs, and has %q", w.ended["f"])
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); halted(cmd.Process.Pid) != ends; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("it never ends")
			}
		}
		if told {
			w.Dies("f")
		} else {
			n.ways[0].ask(now.Add(-fast))
		}
		if w.act(now); !n.failed {
			t.Fatal("it has not failed")
		}
		_ = cmd.Wait()
		proved := func() bool {
			for _, v := range n.ways {
				v.hear(v.ask(now), 0, now)
			}
			n.good = proofs
			w.act(now)
			return !n.failed
		}
		if proved() {
			t.Errorf("told %t: it is well, and nobody knows of another program", told)
		}
		w.Note(process.Status{Node: "f", State: process.Waiting, BeganNs: 1})
		w.Note(process.Status{Node: "f", State: process.Running, PID: os.Getpid(), BeganNs: 2})
		if !proved() {
			t.Errorf("told %t: another one runs, and it is not well", told)
		}
	}
}

// TestHaltedIsNotWaitedFor: a function whose program is stopped has failed as soon as a probe is missing, on the path, and where
// only flows go by it that stay on an older one.
func TestHaltedIsNotWaitedFor(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for _, stopped := range []bool{false, true} {
		if stopped {
			nstest.Stop(t, cmd.Process.Pid)
		}
		for _, leaving := range []bool{false, true} {
			n, now := newNode("1", true, false), time.Now()
			n.spec.Programs, n.leaving = []string{"f"}, leaving
			n.ways[0].ask(now.Add(-fast))
			w := &Watcher{config: Config{Say: func(string, string) {}}, path: process.Path{Forwarder: "nobodys"},
				programs: map[string]string{}, pids: map[string]int{"f": cmd.Process.Pid}, ended: map[string]string{}, nodes: []*node{n}, ports: map[string]*port{"": {}}}
			w.act(now)
			if found := n.failed || w.unsure; found != stopped { // there is no forwarder, in which flows would be recalled
				t.Errorf("stopped %t, leaving %t: failed %t", stopped, leaving, found)
			}
		}
	}
}
