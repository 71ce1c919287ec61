package engine

import (
	"context"
	"sync"
)

// Share has whoever opens an engine with this context be given the same one, which stays open until it is ended: to open one takes a connection,
// and asking whether it is there.
func Share(ctx context.Context) (sharing context.Context, end func()) {
	s := &share{of: map[string]*sharedEngine{}}
	return context.WithValue(ctx, shareKey{}, s), s.close
}

type shareKey struct{}

// share is the engines that are open, by their names.
type share struct {
	mu sync.Mutex
	of map[string]*sharedEngine
}

// sharedEngine is one of them, or yet to be opened.
type sharedEngine struct {
	mu sync.Mutex
	Engine
}

// open an engine, unless it is.
func (s *share) open(ctx context.Context, name string) (Engine, error) {
	s.mu.Lock()
	e := s.of[name]
	if e == nil {
		e = &sharedEngine{}
		s.of[name] = e
	}
	s.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Engine == nil {
		opened, err := open(ctx, name)
		if err != nil {
			return nil, err
		}
		e.Engine = opened
	}
	if n, is := e.Engine.(Networking); is {
		return lentNetworking{n}, nil
	}
	return lent{e.Engine}, nil
}

func (s *share) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.of {
		if e.Engine != nil {
			_ = e.Engine.Close()
		}
	}
	clear(s.of)
}

// lent is an engine that others use as well.
type lent struct{ Engine }

func (lent) Close() error { return nil }

type lentNetworking struct{ Networking }

func (lentNetworking) Close() error { return nil }
