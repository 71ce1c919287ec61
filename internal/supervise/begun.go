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
	p.noted.Lock()
	defer p.noted.Unlock()
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

// isNoted tells whether a note is what is noted now.
func (p *program) isNoted(note string) (bool, error) {
	now, err := p.begunBefore()
	return now != "" && now == note, err
}

// over says that the command of a note is, unless another is noted by now.
func (p *program) over(note string) {
	p.noted.Lock()
	defer p.noted.Unlock()
	if is, err := p.isNoted(note); is && err == nil {
		p.noteEnded()
	}
}

// isHere tells whether a note is of a command in the container that the program is in now. A function that was given another engine has one of its
// own there, and the engine of before may be gone for good.
func (p *program) isHere(note string) bool {
	c := p.spec.Container
	return strings.HasPrefix(note, c.Engine+"\n"+c.Name+"\n")
}

// endBegunHere ends what was begun in the program's container and is not known to have ended: else two would ask at once.
func (p *program) endBegunHere(ctx context.Context) error {
	note, err := p.begunBefore()
	if err != nil || !p.isHere(note) {
		return err
	}
	return p.endBegun(ctx, note)
}

// endBegun ends the command of a note. Of one in the program's container that is not noted any more, another has ended it; that one of elsewhere is
// not only says that a command of here has been noted since.
func (p *program) endBegun(ctx context.Context, note string) error {
	if is, err := p.isNoted(note); err != nil || !is && p.isHere(note) {
		return err
	}
	words := strings.Split(strings.TrimSpace(note), "\n")
	if len(words) != 3 {
		p.over(note) // nobody knows what it was
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
	p.over(note)
	return nil
}

// endsAgain is the time between the first two attempts to end what an engine has been left with.
const endsAgain = time.Second

// endLeftBegun ends what a killed supervisor has left an engine with, which may be away or silent at first, and is asked less and less often.
func (p *program) endLeftBegun(ctx context.Context, note string) {
	for pause := endsAgain; note != "" && p.endBegun(ctx, note) != nil; pause = min(2*pause, longestPause) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
