package supervise_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// touch a file, whose absence said something else.
func touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

func isUnready(s process.Status) bool { return s.State == process.Unready }

// TestReadyNoMore: a program is ready no more when its command has said no so many times in a row, and no sooner; it runs on, and is
// ready when the command says yes.
func TestReadyNoMore(t *testing.T) {
	c := newChain(t, "a")
	dir := t.TempDir()
	s := c.spec("a", "exec sleep 1000")
	s.Env = []string{"DIR=" + dir}
	s.Ready = process.Ready{TimeoutS: 60, PeriodS: 0.05, Failures: 3, Command: []string{"sh", "-c",
		`cd "$DIR"; test -e ill || exit 0; echo >> asked; n=$(wc -l < asked); echo "at first"; echo "answer $n" >&2; test "$n" = 3 || exit 7`}}
	c.up(s)
	before := c.ready("a")
	if before.ReadyCommand == nil || !before.ReadyCommand.Ready || before.ReadyCommand.At.IsZero() {
		t.Errorf("of the first yes is told: %+v", before.ReadyCommand)
	}
	touch(t, dir+"/ill")
	got := c.until("a", "ready no more", isUnready)
	asked, err := os.ReadFile(dir + "/asked")
	if n := strings.Count(string(asked), "\n"); err != nil || n < 6 {
		t.Errorf("after two that said no, one yes, and %d more it is ready no more: %v", n-3, err)
	}
	a := got.ReadyCommand
	if !got.Late || !strings.Contains(got.Message, "is ready no more: its ready command fails (exit status 7: answer 6)") || a.Ready || a.Failures < 3 || !strings.HasPrefix(a.Said, "exit status 7: answer ") {
		t.Errorf("%+v, %+v", got, a)
	}
	remove(t, dir+"/ill")
	got = c.ready("a")
	if got.PID != before.PID || got.Restarts != 0 || got.Late || got.Message != "" || !got.ReadyCommand.Ready || got.ReadyCommand.Failures != 0 || got.ReadyNs != before.ReadyNs {
		t.Errorf("ready again: %+v, %+v; before: %+v", got, got.ReadyCommand, before)
	}
}

// TestReadyCommandHangs: one that does not end says no, and is ended with what it started, and what others ask meanwhile is answered.
func TestReadyCommandHangs(t *testing.T) {
	c := newChain(t, "a")
	hang := t.TempDir() + "/hang"
	s := c.spec("a", "exec sleep 1000")
	s.Env = []string{"HANG=" + hang}
	s.Ready = process.Ready{TimeoutS: 60, PeriodS: 0.05, Failures: 1, Command: []string{"sh", "-c", `test -e "$HANG" || exit 0; sleep 1000 & sleep 1000`}}
	c.up(s)
	c.ready("a")
	touch(t, hang)
	if got := c.until("a", "ready no more", isUnready); !strings.Contains(got.Message, "no answer within 5s") {
		t.Errorf("%+v", got)
	}
	remove(t, hang)
	c.ready("a")
	c.living(1)
}

// sick is a function whose command says no while a file is there.
func sick(onFailure, file string) string {
	return fmt.Sprintf("{name: bad, kind: command, onFailure: %s, command: {args: [sleep, infinity], ready: {period: 1s, failures: 2, command: [sh, -c, 'echo upstream is down; test ! -e %s']}}}", onFailure, file)
}

// TestUnreadyIsLedPast: packets go past a function whose command says no, which is not killed for that, and through it when
// it says yes, and none is lost.
func TestUnreadyIsLedPast(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ill"
	p := newPath(t, spec(sick("bypass", file), last))
	p.well("bad")
	p.sends("client", "")
	s := newStream(t, p)
	s.more(t, 100)
	begun, dropped, before := s.next.Load(), nstest.Dropped(t), p.program("bad")
	// A busy machine may have it fail before, and its program be killed for that: the next one is not ready in time, as long as the
	// command says no, and was never ready before.
	var h process.Health
	mended := false
	for again := 0; ; again++ {
		touch(t, file)
		h = p.until("bad", "failed, for it is not ready", func(h process.Health) bool {
			unready := strings.Contains(h.Reason, "is ready no more")
			mended = mended || hasFailed(h) && !unready
			return hasFailed(h) && (unready || strings.Contains(h.Reason, "is not ready after"))
		})
		if strings.Contains(h.Reason, "its program bad is ready no more: its ready command fails (exit status 1: upstream is down)") {
			break
		}
		if again >= 5 {
			t.Fatalf("%+v", h)
		}
		remove(t, file)
		p.well("bad")
	}
	p.sends("client", "last")
	p.crosses()
	remove(t, file)
	p.well("bad")
	p.sends("client", "")
	p.crosses()
	s.more(t, 100)
	s.whole(t, begun, s.next.Load(), dropped)
	if now := p.program("bad"); h.Failures == 1 && !mended && (now.PID != before.PID || now.Restarts != before.Restarts) {
		t.Errorf("it is another program: %+v, before: %+v", now, before)
	}
}

// TestUnreadyIsTakenOver: a function that was led past for its command stays so when another supervisor comes, until the command says yes.
func TestUnreadyIsTakenOver(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ill"
	p := newPath(t, spec(sick("block", file), last))
	p.well("bad")
	touch(t, file)
	p.until("bad", "failed", hasFailed)
	p.sends("client", "nowhere")
	killSupervisorOf(t, p.owner)
	p.up(spec(sick("block", file), last))
	for range 100 { // far more looks of who watches
		if h := p.until("bad", "known", func(process.Health) bool { return true }); !hasFailed(h) {
			t.Fatalf("%+v", h)
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.sends("client", "nowhere")
	remove(t, file)
	p.well("bad")
	p.sends("client", "")
	p.crosses()
}

// TestNeverReadyIsLedPast: neither do packets go through a function whose command does not say yes in time.
func TestNeverReadyIsLedPast(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ill"
	touch(t, file)
	p := newPath(t, spec(strings.Replace(sick("bypass", file), "period: 1s", "period: 1s, timeout: 200ms", 1), last))
	p.until("bad", "failed, for it is not ready", func(h process.Health) bool {
		return hasFailed(h) && strings.Contains(h.Reason, "is not ready after 200ms: its ready command fails (exit status 1: upstream is down)")
	})
	p.sends("client", "last")
	remove(t, file)
	p.well("bad")
	p.sends("client", "")
	p.crosses()
}

// TestPausedIsLedPast: packets go past a function whose program is paused, which is left so, and through it when it goes on.
func TestPausedIsLedPast(t *testing.T) {
	nstest.Require(t, feature.Tun, feature.Redirect)
	t.Parallel()
	p := newPath(t, spec(tunnel, last))
	for again := 0; ; again++ { // a busy machine may have had it fail before, and its program be killed for that
		p.well("bad")
		before := p.program("bad")
		thaw := nstest.Freeze(t, before.PID)
		if thaw == nil {
			continue
		}
		h := p.until("bad", "failed", hasFailed)
		p.sends("client", "last")
		p.crosses()
		time.Sleep(3 * time.Second) // in which one that hangs is killed
		thaw()
		p.well("bad")
		p.sends("client", "")
		p.crosses()
		now := p.program("bad")
		if strings.Contains(h.Reason, "its program bad is paused") && now.PID == before.PID && now.Restarts == before.Restarts {
			return
		}
		if again >= 5 {
			t.Fatalf("%+v; the program was %+v, and is %+v", h, before, now)
		}
	}
}
