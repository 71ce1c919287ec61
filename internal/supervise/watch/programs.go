package watch

import (
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
)

// Note what became of a program.
func (w *Watcher) Note(s process.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.programs[s.Node], w.pids[s.Node] = s.State, s.PID
	if s.State == process.Waiting {
		w.ended[s.Node] = true
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
		w.ended[program] = true
		w.alarm.set(0)
	}
}
