package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// What an engine was asked to run as a ready command is noted before it can begin, by the engine's own name of it, and until it is known to
// have ended. Whoever comes next has the engine end that: also what began after this supervisor was killed, and what scrubs its environment.

// noteBegins says which command it is that the engine may begin from now on.
func (p *program) noteBegins(command string) error {
	line := strings.Join([]string{p.spec.Container.Engine, p.spec.Container.Name, command}, "\n") + "\n"
	return rundir.Keep(rundir.Asking(p.config.Owner, p.spec.Node), []byte(line), 0o644)
}

// noteEnded says that it is over.
func (p *program) noteEnded() { _ = os.Remove(rundir.Asking(p.config.Owner, p.spec.Node)) }

// begunBefore is what is noted; "" where nothing is.
func (p *program) begunBefore() (string, error) {
	text, err := os.ReadFile(rundir.Asking(p.config.Owner, p.spec.Node))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// endBegun ends the command of a note, unless that is no longer there: another has ended it then.
func (p *program) endBegun(ctx context.Context, note string) error {
	p.noted.Lock()
	defer p.noted.Unlock()
	if now, err := p.begunBefore(); err != nil || now == "" || now != note {
		return err
	}
	words := strings.Split(strings.TrimSpace(note), "\n")
	if len(words) != 3 {
		p.noteEnded() // nobody knows what it was
		return nil
	}
	e, err := engine.Open(ctx, words[0])
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	if err := e.EndExec(ctx, words[1], words[2]); err != nil {
		return fmt.Errorf("end the ready command of before: %w", err)
	}
	p.noteEnded()
	return nil
}

// endsAgain is the time between two attempts to end what an engine has been left with.
const endsAgain = time.Second

// endLeftBegun ends what a killed supervisor has left an engine with, which may be away or silent at first.
func (p *program) endLeftBegun(ctx context.Context, note string) {
	for note != "" && p.endBegun(ctx, note) != nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(endsAgain):
		}
	}
}
