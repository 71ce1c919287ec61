package feature

import (
	"context"
	"sync"
)

// maxAsked is how many features are asked for at once: most of the time goes into
// waiting for the kernel's network lock and for tools to start.
const maxAsked = 4

// Set is what one machine can do. Each feature is asked for when it is first
// wanted, and once. A Set may be copied and used from several goroutines; the
// zero Set has nothing.
type Set struct {
	env     Env
	entries []*entry
	index   map[string]*entry
}

// entry is one feature, asked for at most once.
type entry struct {
	name string
	get  func() Feature
}

// Probe makes the Set of a machine. It asks nothing yet; once ctx is done, what
// was not asked counts as absent.
func Probe(ctx context.Context, env Env) Set {
	return probe(ctx, env, catalogue())
}

func probe(ctx context.Context, env Env, questions []question) Set {
	s := Set{env: env, index: map[string]*entry{}}
	slots := make(chan struct{}, maxAsked)
	for _, q := range questions {
		s.add(q.name, sync.OnceValue(func() Feature {
			slots <- struct{}{}
			defer func() { <-slots }()
			return ask(ctx, env, q).of(q)
		}))
	}
	return s
}

// ask puts one question, unless it is too late for questions.
func ask(ctx context.Context, env Env, q question) answer {
	a := answer{}
	if ctx.Err() == nil {
		a = q.ask(ctx, env)
	}
	// An answer that was cut short says nothing of the machine.
	if err := ctx.Err(); err != nil && !a.present {
		return no("not asked: "+err.Error(), "ask again")
	}
	return a
}

func (s *Set) add(name string, get func() Feature) {
	e := &entry{name, get}
	s.entries = append(s.entries, e)
	s.index[name] = e
}

// Get is one feature. A name nobody knows gives an absent feature that says so.
func (s Set) Get(name string) Feature {
	if e, ok := s.index[name]; ok {
		return e.get()
	}
	return no("nfchain knows no feature of this name", "report it as a bug").of(question{name: name})
}

// Has tells whether a feature is present.
func (s Set) Has(name string) bool { return s.Get(name).Present }

// All is every feature, group by group. It takes as long as the slowest
// questions: up to the time-out of each tool that hangs.
func (s Set) All() []Feature {
	return s.list(s.entries)
}

// list asks for the entries together and keeps their order.
func (s Set) list(entries []*entry) []Feature {
	all := make([]Feature, len(entries))
	var wg sync.WaitGroup
	for i, e := range entries {
		wg.Add(1)
		go func() {
			defer wg.Done()
			all[i] = e.get()
		}()
	}
	wg.Wait()
	return all
}
