// Package supervise is the process that keeps a chain's programs running. There
// is one a chain, only if it has programs; it is reached over a socket with an
// abstract name and leaves no file but the programs' logs.
package supervise

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sort"
	"sync"

	"nfchain.dev/nfchain/internal/resource/process"
)

// Config is what a supervisor needs from its caller.
type Config struct {
	Owner string
	// Inside gives the command that runs args within a program's namespace and
	// limits, finding its names.
	Inside func(spec process.Spec, args []string) []string
	// LogFile is where a node's program writes.
	LogFile func(node string) string
}

// Run supervises until it is asked to stop or the context ends. A second
// supervisor for the same owner is an error.
func Run(ctx context.Context, c Config) error {
	listener, err := net.Listen("unix", process.Address(c.Owner))
	if err != nil {
		return fmt.Errorf("supervise %s: %w", c.Owner, err)
	}
	s := &supervisor{config: c, programs: map[string]*program{}}
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		<-ctx.Done()
		s.endAll()
		_ = listener.Close()
	}()
	var calls sync.WaitGroup
	for {
		conn, err := listener.Accept()
		if err != nil {
			calls.Wait()
			return nil
		}
		calls.Add(1)
		go func() {
			defer calls.Done()
			s.serve(conn)
		}()
	}
}

type supervisor struct {
	config Config
	stop   func()

	mu       sync.Mutex
	programs map[string]*program
}

// serve answers one request.
func (s *supervisor) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var r process.Request
	if err := json.NewDecoder(conn).Decode(&r); err != nil {
		return
	}
	var reply process.Reply
	switch r.Op {
	case "set":
		for _, spec := range r.Programs {
			s.set(spec)
		}
	case "remove":
		for _, spec := range r.Programs {
			s.remove(spec.Node)
		}
	case "stop":
		s.endAll()
		defer s.stop()
	case "status":
	default:
		reply.Error = fmt.Sprintf("unknown request %q", r.Op)
	}
	reply.Programs = s.statuses()
	_ = json.NewEncoder(conn).Encode(reply)
}

// set starts a program or replaces the one of the same node.
func (s *supervisor) set(spec process.Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.programs[spec.Node]; old != nil {
		if old.spec.Fingerprint() == spec.Fingerprint() {
			return
		}
		old.end()
	}
	s.programs[spec.Node] = launch(s.config, spec)
}

func (s *supervisor) remove(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.programs[node]; p != nil {
		p.end()
		delete(s.programs, node)
	}
	if len(s.programs) == 0 {
		s.stop()
	}
}

// endAll ends every program, all at once.
func (s *supervisor) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range s.programs {
		all.Add(1)
		go func() {
			defer all.Done()
			p.end()
		}()
	}
	all.Wait()
	s.programs = map[string]*program{}
}

func (s *supervisor) statuses() []process.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []process.Status{}
	for _, p := range s.programs {
		list = append(list, p.status())
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Node < list[j].Node })
	return list
}
