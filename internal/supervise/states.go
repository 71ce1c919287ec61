package supervise

import (
	"maps"
	"slices"
	"sync"

	"nfchain.dev/nfchain/internal/resource/process"
)

// states of programs, by their functions and their nodes: a function has several programs where it has replicas.
type states struct {
	mu sync.Mutex
	of map[string]map[string]string
}

func (s *states) note(of process.Spec, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[of.Function()] == nil {
		s.of[of.Function()] = map[string]string{}
	}
	s.of[of.Function()][of.Node] = state
}

// forget a program that is there no more.
func (s *states) forget(of process.Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of[of.Function()], of.Node)
}

// unready gives the first program of these functions that is not ready, or the first function that has none; "" where all
// are ready.
func (s *states) unready(functions []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, function := range functions {
		programs := s.of[function]
		if len(programs) == 0 {
			return function
		}
		for _, node := range slices.Sorted(maps.Keys(programs)) {
			if programs[node] != process.Running {
				return node
			}
		}
	}
	return ""
}
