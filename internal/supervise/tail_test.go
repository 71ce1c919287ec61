package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
)

// TestLastLine of much that is written, of which nothing does anything to a terminal.
func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"one\ntwo\n\n":                   "two",
		"table {\n\tchain c {\n\t}\n}\n": "chain c {",
		"one\n...\n":                     "one",
		"{\n}\n":                         "}",
		"\x1b[31mred\x1b[0m \xff\ttab\n": " [31mred [0m   tab",
		strings.Repeat("x", 10*longestSaid) + "y": strings.Repeat("x", longestSaid-1) + "y",
	} {
		var wrote tail
		if _, err := wrote.Write([]byte(text)); err != nil || wrote.line() != want || cap(wrote.text) > 20*longestSaid {
			t.Errorf("of %q: %q, %v", text, wrote.line(), err)
		}
	}
}

// TestMuchIsSaid: a command that writes without end is neither waited for longer nor kept, and what it left running in a session of
// its own, which holds on to where it wrote, holds nobody up.
func TestMuchIsSaid(t *testing.T) {
	file := t.TempDir() + "/left"
	for what, script := range map[string]string{
		"without end": "yes 'all is well' | head -c 10000000; echo; echo so it is",
		"left open":   "setsid sh -c 'echo $$ > " + file + "; exec sleep 1000' & until test -s " + file + "; do sleep 0.01; done; echo so it is",
	} {
		t.Run(what, func(t *testing.T) {
			said, err := askedInTime(t, script, func() {
				text, err := os.ReadFile(file)
				if err != nil {
					return // nobody is left yet, or by this one
				}
				pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
				if err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
					t.Errorf("what is left cannot be killed: %q, %v", text, err)
				}
				_ = os.Remove(file)
			})
			if err != nil || said != "so it is" {
				t.Errorf("%q, %v", said, err)
			}
		})
	}
}

// askedInTime is what a ready command says that a busy machine lets have its time: one of ten. What is done after each has to be.
func askedInTime(t *testing.T, script string, after func()) (said string, err error) {
	t.Helper()
	p := &program{config: Config{Inside: func(_ process.Spec, args []string, _ int) []string { return args }}}
	for range 10 {
		said, err = p.ask(t.Context(), 0, []string{"sh", "-c", script})
		after()
		if !errors.Is(err, errNoAnswer) && !errors.Is(err, errUnasked) {
			break
		}
	}
	return said, err
}

// TestHeardLate: what was written is heard by who comes to it when the time is over, though another may yet write more.
func TestHeardLate(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = from.Close(), to.Close() }()
	text := strings.Repeat("all is well\n", 5000) + "so it is\n"
	if _, err := to.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := from.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var wrote tail
		hear(&wrote, from)
		if want := text[max(0, len(text)-longestSaid):]; string(wrote.text) != want {
			t.Errorf("%q, want %q", wrote.text, want)
		}
		text = ""
	}
}

// TestUnasked: that a command could not be run is no answer, and told beside the last one.
func TestUnasked(t *testing.T) {
	var told bytes.Buffer
	p := &program{told: &noted{to: &told}, spec: process.Spec{Ready: process.Ready{Command: []string{"x"}, PeriodS: 1, Failures: 1}}}
	p.config.Inside = func(process.Spec, []string, int) []string { return []string{"/no/such/program"} }
	p.state.State = process.Running
	p.noteAnswer("fine", nil)
	at := p.state.ReadyCommand.At
	for range 3 {
		p.heed(p.answer(context.Background(), 0))
	}
	a := p.state.ReadyCommand
	if p.state.State != process.Running || !a.Ready || a.Said != "fine" || !a.At.Equal(at) || a.Failures != 0 || !strings.Contains(a.Unasked, "could not be asked: ") {
		t.Errorf("%+v, %+v", p.state, a)
	}
	if told.Len() != 0 {
		t.Errorf("told: %s", told.String())
	}
	p.noteAnswer("fine", nil)
	if p.state.ReadyCommand.Unasked != "" {
		t.Errorf("%+v", p.state.ReadyCommand)
	}
}

// TestUnbegun: a command that is yet on its way to where the program runs when its time is over has said nothing.
func TestUnbegun(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		script string
		want   error
	}{"on its way": {"sleep 1000", errUnasked}, "begun": {"exec sleep 1000", errNoAnswer}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := &program{config: Config{Inside: func(_ process.Spec, args []string, _ int) []string { return args }}}
			said, err := p.ask(t.Context(), 0, []string{"sh", "-c", c.script + "; :"})
			for range 10 { // a busy machine may take for ever to let it begin
				if errors.Is(err, c.want) || !errors.Is(err, errUnasked) {
					break
				}
				said, err = p.ask(t.Context(), 0, []string{"sh", "-c", c.script + "; :"})
			}
			if said != "" || !errors.Is(err, c.want) {
				t.Errorf("%q, %v", said, err)
			}
		})
	}
}

// noted writes what becomes of a program.
type noted struct{ to *bytes.Buffer }

func (n *noted) note(_ process.Spec, now process.Status) {
	_, _ = fmt.Fprintln(n.to, now.State, time.Now())
}
func (*noted) dies(string)             {}
func (*noted) unready([]string) string { return "" }
