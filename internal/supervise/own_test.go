package supervise_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"nfchain.dev/nfchain/internal/resource/process"
)

// waitsFor tells whether a program has not begun, because another is not ready.
func waitsFor(node string) func(process.Status) bool {
	return func(s process.Status) bool {
		return s.State == process.Waiting && (s.Message == "waits for "+node || s.Message == "ended by signal: killed; waits for "+node) && s.PID == 0
	}
}

// TestAfter: a program begins when the other is ready, however often, and goes on when the other has ended.
func TestAfter(t *testing.T) {
	c := newChain(t, "a", "b")
	file := t.TempDir() + "/ready"
	a, b := c.spec("a", "exec sleep 1000"), c.spec("b", "echo began; exec sleep 1000")
	a.Ready = process.Ready{Command: []string{"test", "-e", file}, TimeoutS: 60}
	b.After = []string{"a"}
	touch := func() {
		t.Helper()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kill := func(pid int) {
		t.Helper()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	c.up(b)
	c.until("b", "waiting", waitsFor("a"))
	c.up(a, b)
	c.until("a", "running", func(s process.Status) bool { return s.PID != 0 })
	if s := c.until("b", "waiting", waitsFor("a")); s.Failures != 0 || s.Restarts != 0 {
		t.Errorf("it waits: %+v", s)
	}
	touch()
	first := c.ready("a")
	if s := c.until("b", "running", func(s process.Status) bool { return s.PID != 0 }); s.Message != "" {
		t.Errorf("it waits no more: %+v", s)
	}
	second := c.ready("b")

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	kill(first.PID)
	c.until("a", "started again", func(s process.Status) bool { return s.Restarts == 1 && s.State == process.Starting })
	if s := c.ready("b"); s.PID != second.PID {
		t.Errorf("it ended with what it had waited for: %+v", s)
	}
	kill(second.PID)
	c.until("b", "waiting", waitsFor("a"))
	touch()
	c.until("b", "ready again", func(s process.Status) bool { return s.State == process.Running && s.PID != second.PID })
	if log := c.log("b"); strings.Count(log, "began") != 2 {
		t.Errorf("log %q", log)
	}
}

// TestWaitsAndGoes: what waits is removed, and what is replaced is waited for anew.
func TestWaitsAndGoes(t *testing.T) {
	c := newChain(t, "a", "b")
	b := c.spec("b", "exec sleep 1000")
	b.After = []string{"a"}
	c.up(c.spec("a", "exec sleep 1000"), b)
	c.ready("b")
	late := c.spec("a", "exec sleep 2000")
	late.Ready = process.Ready{Command: []string{"false"}, TimeoutS: 60}
	b.Args = []string{"sleep", "2000"}
	c.up(late, b)
	c.until("b", "waiting", waitsFor("a"))
	c.up(late)
	c.living(1)
}

// TestAfterReplicas: a program begins when all of a function are ready, and goes on as it is when one more comes.
func TestAfterReplicas(t *testing.T) {
	c := newChain(t, "a", "b-1", "b-2", "b-3")
	a := c.spec("a", "exec sleep 1000")
	a.After = []string{"b"}
	replica := func(number int, ready string) process.Spec {
		s := c.spec("b-"+itoa(number), "exec sleep 1000")
		s.Of, s.Ready = "b", process.Ready{Command: []string{ready}, TimeoutS: 60}
		return s
	}
	c.up(a)
	c.until("a", "waiting", waitsFor("b"))
	c.up(a, replica(1, "true"), replica(2, "false"))
	c.ready("b-1")
	c.until("a", "waiting", waitsFor("b-2"))
	c.up(a, replica(1, "true"), replica(2, "true"))
	pid := c.ready("a").PID
	c.up(a, replica(1, "true"), replica(2, "true"), replica(3, "false"))
	c.until("b-3", "there", func(s process.Status) bool { return s.PID != 0 })
	if s := c.ready("a"); s.PID != pid {
		t.Errorf("it was begun anew: %+v", s)
	}
}

// TestReplacedTogether: what one that is replaced waits for is the other as it is to be, whichever of them is told first.
func TestReplacedTogether(t *testing.T) {
	c := newChain(t, "a", "b")
	waits, waited := c.spec("a", "exec sleep 1000"), c.spec("b", "exec sleep 1000")
	waits.After = []string{"b"}
	c.up(waits, waited)
	c.ready("a")
	waits.Args, waited.Args = []string{"sleep", "2000"}, []string{"sleep", "2000"}
	waited.Ready = process.Ready{Command: []string{"false"}, TimeoutS: 60}
	c.up(waits, waited)
	c.until("a", "waiting", waitsFor("b"))
	c.living(1)
}

// TestOwnFiles: a program has directories of its own, which its ready command sees and nobody else, and new
// ones when it begins again.
func TestOwnFiles(t *testing.T) {
	c := newChain(t, "a")
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/host", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := c.spec("a", "cd "+dir+" && cat in/text && stat -c %a in/text && test ! -e host && test ! -e made && touch made within/made && exec sleep 1000")
	s.Scratch, s.Files = []string{dir + "/within", dir}, map[string]string{dir + "/in/text": "given\n"}
	s.Ready.Command = []string{"sh", "-c", "test -e " + dir + "/made && test -e " + dir + "/within/made"}
	c.up(s)
	pid := c.ready("a").PID
	c.says("a", "given\n644\n")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.until("a", "ready again", func(s process.Status) bool { return s.State == process.Running && s.PID != pid })
	if found, err := os.ReadDir(dir); err != nil || len(found) != 1 {
		t.Errorf("on the host: %v, %v", found, err)
	}
}

// TestNowhereForOwnFiles: nothing is made on the host for them.
func TestNowhereForOwnFiles(t *testing.T) {
	c := newChain(t, "a")
	s := c.spec("a", "exec sleep 1000")
	s.Scratch = []string{t.TempDir() + "/missing"}
	c.up(s)
	c.until("a", "failing", func(s process.Status) bool { return s.Failures > 0 })
	if log := c.log("a"); !strings.Contains(log, "scratch: directory "+s.Scratch[0]+", which has to be on this machine: no such file or directory") {
		t.Errorf("log %q", log)
	}
}

// TestWithoutEnvironment: what has written over its environment is known all the same, when its supervisor was killed, and
// when it ends and leaves another behind.
func TestWithoutEnvironment(t *testing.T) {
	c := newChain(t, "a")
	s := c.spec("a", "env -i sleep 2000 & exec env -i sleep 1000")
	c.up(s)
	pid := c.ready("a").PID
	c.living(2)
	c.killSupervisor()
	c.up(s)
	if again := c.ready("a"); again.PID != pid {
		t.Errorf("it was %d, and is %d since another supervises it", pid, again.PID)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.until("a", "ready again", func(s process.Status) bool { return s.State == process.Running && s.PID != pid })
	c.living(2)
}
