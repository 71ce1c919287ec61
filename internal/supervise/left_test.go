package supervise_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestReadyCommandOfAKilledSupervisor: one that hangs when its supervisor is killed is ended, with what it has started in whatever session,
// by the next supervisor, which takes the program over as it runs; and so it is where the program is not wanted any more.
func TestReadyCommandOfAKilledSupervisor(t *testing.T) {
	c := newChain(t, "a")
	dir := t.TempDir()
	s := c.spec("a", "exec sleep 1000")
	s.Ready = process.Ready{TimeoutS: 60, PeriodS: 0.05, Failures: 1000, Command: []string{"sh", "-c", hanging, "sh", dir}}
	c.up(s)
	before := c.ready("a")
	hangs := func(begun string) {
		t.Helper()
		c.hangs(dir, begun)
	}
	hangs("first")
	if !c.takesOver(s) {
		t.Error("is told not to be taken over")
	}
	c.up(s)
	c.living(1)
	if after := c.ready("a"); after.PID != before.PID || after.Restarts != 0 {
		t.Errorf("%+v, before: %+v", after, before)
	}
	hangs("second")
	c.up()
	c.living(0)
}

// hanging is a ready command that hangs where a file in a directory says so, with what it has started in whatever session.
const hanging = `cd "$1"; read begun <hang || exit 0; setsid sleep 1000 & sleep 1000 & echo >"$begun"; wait`

// hangs has a program's ready command hang when its supervisor is killed.
func (c *chain) hangs(dir, begun string) {
	c.Helper()
	if err := os.WriteFile(dir+"/new", []byte(begun+"\n"), 0o600); err != nil {
		c.Fatal(err)
	}
	if err := os.Rename(dir+"/new", dir+"/hang"); err != nil {
		c.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(dir + "/" + begun); err == nil {
			break
		}
		if time.Now().After(deadline) {
			c.Fatalf("it is asked no more: %v, log %q", c.alive(), c.log("a"))
		}
	}
	c.killSupervisor()
	if left := c.alive(); len(left) < 2 {
		c.Fatalf("nothing but the program is left: %v", left)
	}
	if err := os.Remove(dir + "/hang"); err != nil {
		c.Fatal(err)
	}
}

// TestScrubbedReadyCommandOfAKilledSupervisor: one without an environment, beside a program that has directories of its own, is taken neither
// for that nor for a part of it: it is ended, whether the program runs on or has ended meanwhile.
func TestScrubbedReadyCommandOfAKilledSupervisor(t *testing.T) {
	c := newChain(t, "a")
	dir := t.TempDir()
	s := c.spec("a", "")
	s.Args, s.Scratch = []string{"sleep", "1000"}, []string{t.TempDir()}
	s.Ready = process.Ready{TimeoutS: 60, PeriodS: 0.05, Failures: 1000, Command: []string{"env", "-i", "sh", "-c", hanging, "sh", dir}}
	c.up(s)
	before := c.ready("a")
	c.hangs(dir, "first")
	c.up(s)
	c.living(1)
	if after := c.ready("a"); after.PID != before.PID || after.Restarts != 0 {
		t.Errorf("%+v, before: %+v", after, before)
	}
	c.hangs(dir, "second")
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); slices.Contains(c.alive(), before.PID); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program does not end")
		}
	}
	c.up(s)
	c.living(1)
	if after := c.ready("a"); string(commandOf(after.PID)) != "sleep\x001000\x00" || slices.Contains([]int{0, before.PID}, after.PID) {
		t.Errorf("%+v runs %q", after, commandOf(after.PID))
	}
}

func commandOf(pid int) []byte {
	words, _ := os.ReadFile("/proc/" + itoa(pid) + "/cmdline")
	return words
}

// TestReadyCommandOfAnEarlierVersion: one that has the empty mark of earlier versions is ended, and with what it has started; the program runs on.
func TestReadyCommandOfAnEarlierVersion(t *testing.T) {
	c := newChain(t, "a")
	s := c.spec("a", "exec sleep 1000")
	c.up(s)
	before := c.ready("a")
	c.killSupervisor()
	earlier := exec.Command("sh", "-c", "setsid sleep 1000 & sleep 1000; true")
	earlier.Env = append(os.Environ(), "NFCHAIN_PROGRAM=")
	if err := netns.StartAt(s.Netns, earlier, netns.Seat{}); err != nil {
		t.Fatal(err)
	}
	c.living(4)
	c.up(s)
	c.living(1)
	_ = earlier.Wait()
	if after := c.ready("a"); after.PID != before.PID || after.Restarts != 0 {
		t.Errorf("%+v, before: %+v", after, before)
	}
}

// TestReadyCommandOutsideOfAKilledSupervisor: one that has not entered the namespace yet, in which nobody would find it, ends with its
// supervisor.
func TestReadyCommandOutsideOfAKilledSupervisor(t *testing.T) {
	c := newChain(t, "a")
	held := t.TempDir() + "/held"
	touch(t, held)
	s := c.spec("a", "")
	s.Args, s.Env = []string{"sleep", "1000"}, []string{holdsUntil + held}
	s.Ready = process.Ready{TimeoutS: 60, PeriodS: 0.05, Failures: 1000, Command: []string{"sh", "-c", "true"}}
	c.up(s)
	c.ready("a")
	remove(t, held)
	outside := func() (pids []int) {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range files {
			environment, _ := os.ReadFile(name)
			words, _ := os.ReadFile(filepath.Dir(name) + "/cmdline")
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err == nil && bytes.Contains(environment, []byte(holdsUntil+held)) && bytes.HasPrefix(words, []byte("/proc/self/exe\x00inside\x00")) {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, outside())
			}
		}
	}
	until("none is asked", func() bool { return len(outside()) > 0 })
	c.killSupervisor()
	until("some are left", func() bool { return len(outside()) == 0 })
	touch(t, held)
	c.up(s)
	c.ready("a")
	c.living(1)
}
