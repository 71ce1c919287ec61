package supervise

import (
	"fmt"
	"os"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/supervise/watch"
)

// watch over a path in the place of the one before; nil is none.
func (s *supervisor) watch(p *process.Path) error {
	if p != nil && s.over {
		return fmt.Errorf("the supervisor of %s is stopping", s.config.Owner)
	}
	old := s.watchedBy()
	if old != nil && p != nil && old.Fingerprint() == p.Fingerprint() {
		return nil
	}
	s.unwatch()
	if p == nil {
		s.rest()
		return nil
	}
	w, err := watch.Start(watch.Config{
		Owner:   s.config.Owner,
		Restart: func(program string) { go s.restart(program) },
		Remake:  func(node string) { go s.remake(node) },
		Say:     s.config.say,
	}, *p, old)
	if err != nil {
		s.rest()
		return err
	}
	s.setWatcher(w)
	for _, program := range s.programs {
		program.tell()
	}
	return nil
}

// unwatch ends watching.
func (s *supervisor) unwatch() {
	if w := s.watchedBy(); w != nil {
		s.setWatcher(nil)
		w.Stop()
	}
}

// holdsFor is how long nothing is taken for a failure while a chain is changed, unless it is told
// sooner what it has become, or that it has not changed.
const holdsFor = 30 * time.Second

func (s *supervisor) hold(during time.Duration) {
	if w := s.watchedBy(); w != nil {
		w.Hold(during)
	}
}

func (s *supervisor) watchedBy() *watch.Watcher {
	s.watching.Lock()
	defer s.watching.Unlock()
	return s.watcher
}

func (s *supervisor) setWatcher(w *watch.Watcher) {
	s.watching.Lock()
	defer s.watching.Unlock()
	s.watcher = w
}

// note what became of a program.
func (s *supervisor) note(of process.Spec, now process.Status) {
	select {
	case s.stirred <- struct{}{}:
	default: // it is told already
	}
	state := now.State
	if now.Done() {
		state = process.Running // who waits for it waits no more
	}
	s.states.note(of, state)
	if w := s.watchedBy(); w != nil {
		w.Note(now)
	}
}

// unready gives a program of these functions that is not ready, or a function that has none; "" where all are ready.
func (s *supervisor) unready(functions []string) string { return s.states.unready(functions) }

// dies tells who watches that a program begins to end, or seems to.
func (s *supervisor) dies(program string) {
	if w := s.watchedBy(); w != nil {
		w.Dies(program)
	}
}

// watched tells which path is, the health of its functions, and the signature of the probes.
func (s *supervisor) watched() (fingerprint string, functions []process.Health, probes uint64) {
	w := s.watchedBy()
	if w == nil {
		return "", nil, 0
	}
	return w.Fingerprint(), w.Health(), w.Signature()
}

// restart a program that runs, or has ended, where nothing comes through.
func (s *supervisor) restart(node string) {
	s.mu.Lock()
	p := s.programs[node]
	s.mu.Unlock()
	if p != nil {
		p.restart()
	}
}

// remake what a node lacks, with all else that the chain has lost, and tell who watches.
func (s *supervisor) remake(node string) {
	err := s.restorer.whole(s.ends)
	if w := s.watchedBy(); w != nil && !s.ending() {
		w.Remade(node, err)
	}
}

// say in a node's log what became of it.
func (c Config) say(node, text string) {
	log, err := os.OpenFile(c.LogFile(node), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return // the state says it, too
	}
	defer func() { _ = log.Close() }()
	_, _ = fmt.Fprintf(log, "nfchain, %s: function %s %s\n", time.Now().Format(time.RFC3339Nano), node, text)
	trim(c.LogFile(node), longestLog) // many have no program, beside which it would be
}
