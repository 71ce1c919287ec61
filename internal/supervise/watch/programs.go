package watch

import (
	"cmp"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
)

// hasEnded is what is said of a program that did.
const hasEnded = "has ended"

// Note what became of a program.
func (w *Watcher) Note(s process.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.programs[s.Node], w.pids[s.Node] = s.State, s.PID
	switch {
	case s.State != process.Waiting:
	case s.BeganNs == 0:
		w.ended[s.Node] = cmp.Or(s.Message, "has not begun")
	default:
		w.ended[s.Node] = hasEnded
	}
	delete(w.unready, s.Node)
	said := s.ReadyCommand != nil && !s.ReadyCommand.At.IsZero() // one that could not be asked yet has said nothing
	if s.State == process.Unready || s.Late && said {
		w.unready[s.Node] = s.Message
	}
	if now := time.Now(); s.State == process.Running || s.State == process.Ended {
		for _, n := range w.nodes {
			if slices.Contains(n.spec.Programs, s.Node) {
				n.begins(now)
			}
		}
	}
	w.alarm.set(0)
}

// Dies tells that a program seems to begin to end: if it does, that is not waited for.
func (w *Watcher) Dies(program string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if halted(w.pids[program]) == ends {
		w.ended[program] = hasEnded
		w.dies(program)
		w.alarm.set(0)
	}
}

// dies has no packet go to a program again that ends until it is told what the next one does: its engine may take a while to say that it has, and
// the kernel to let go of what it held.
func (w *Watcher) dies(program string) { w.programs[program] = process.Waiting }
