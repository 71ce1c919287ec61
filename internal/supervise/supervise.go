// Package supervise is the process that keeps a chain's programs running, and watches over
// functions that are to be led past when they fail. There is one a chain, only if it has
// such; it is reached over a socket of the chain's and leaves no file but the functions' logs.
package supervise

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sort"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/supervise/watch"
)

// Config is what a supervisor needs from its caller.
type Config struct {
	Owner string
	// Inside gives the command that runs args within a program's namespace and
	// limits, finding its names; where beside is not 0, with the files of that process of the program's.
	Inside func(spec process.Spec, args []string, beside int) []string
	// LogFile is where a node's program writes.
	LogFile func(node string) string
	// Again brings the chain up as its file says, when no flow goes by an older version of its path any more, or replicas that are taken out have
	// none.
	Again func(ctx context.Context) error
	// Leaving tells what replicas of the chain that are taken out are left; nil where there are none.
	Leaving func() (*steer.Leaving, error)
	// Restore brings back what the chain has lost: containers that have ended, with their network, and interfaces. What keeps one of them from it is told by its
	// name, what keeps all of them as an error.
	Restore func(ctx context.Context) (lacking map[string]error, err error)
}

// Run supervises until it is asked to stop, the last program is removed and nothing is
// watched, or the context ends. A second supervisor for the same owner is an error.
func Run(ctx context.Context, c Config) error {
	listener, err := rundir.Listen(process.Address(c.Owner))
	if err != nil {
		return fmt.Errorf("supervise %s: %w", c.Owner, err)
	}
	s := &supervisor{config: c, programs: map[string]*program{}, states: states{of: map[string]map[string]string{}}, left: map[string]bool{}, stirred: make(chan struct{}, 1)}
	found, err := process.Find(c.Owner)
	if err != nil {
		_ = listener.Close()
		return fmt.Errorf("supervise %s: %w", c.Owner, err)
	}
	for _, f := range found {
		s.left[f.Node] = true
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.ends = ctx.Done()
	s.restorer = newRestorer(ctx, c.Restore)
	defer s.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		s.endAll()
		_ = listener.Close()
	}()
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		s.trimLogs()
	}()
	var calls sync.WaitGroup
	for {
		conn, err := listener.AcceptUnix()
		if err != nil {
			s.stop()
			<-ended
			calls.Wait()
			s.background.Wait()
			return nil
		}
		outlive()
		calls.Add(1)
		go func() {
			defer calls.Done()
			s.serve(conn)
		}()
	}
}

// outlive the process that started this one, now that others find it by its socket. What
// is taken back is of the thread that the process began with, on which Run is called.
func outlive() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }

type supervisor struct {
	config Config
	stop   func()
	// ends is closed when the supervisor is to end, and background is what ends before it.
	ends       <-chan struct{}
	background sync.WaitGroup
	// restorer brings back what the chain has lost.
	restorer *restorer
	// stirred tells who looks at logs that something became of a program.
	stirred chan struct{}

	mu       sync.Mutex
	programs map[string]*program
	// left are the nodes with programs that a killed supervisor left; "" where it is not known of which.
	left map[string]bool
	// over is set when no more programs are taken.
	over bool
	// draining tells that flows go by older versions of the path, or by replicas that are taken out.
	draining bool

	// states of the programs, as each has told the last time. They are kept beside the programs, so that
	// one that waits for others can be ended by who holds those.
	states states

	// watching is held while the watcher, which may be nil, is read or changed.
	watching sync.Mutex
	watcher  *watch.Watcher
}

const (
	// asksWithin is how long who connects may take to say what it wants.
	asksWithin = 5 * time.Second
	// longestRequest in bytes.
	longestRequest = 16 << 20
)

// serve answers one request.
func (s *supervisor) serve(conn *net.UnixConn) {
	defer func() { _ = conn.Close() }()
	if s.ending() {
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(asksWithin))
	var r process.Request
	var reply process.Reply
	if err := json.NewDecoder(io.LimitReader(conn, longestRequest)).Decode(&r); err != nil {
		reply.Error = fmt.Sprintf("not a request: %v", err)
	} else if err := s.do(r); err != nil {
		reply.Error = err.Error()
	}
	reply.Version, reply.Programs = process.Version, s.statuses()
	reply.Path, reply.Health, reply.Probes = s.watched()
	_ = conn.SetWriteDeadline(time.Now().Add(asksWithin))
	_ = json.NewEncoder(conn).Encode(reply)
	s.leave()
}

// do carries a request out.
func (s *supervisor) do(r process.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Op {
	case process.OpStatus:
	case process.OpSet:
		for _, spec := range r.Programs {
			if err := s.set(spec); err != nil {
				return err
			}
		}
	case process.OpRemove:
		s.remove(r.Nodes)
	case process.OpWatch:
		return s.watch(r.Path)
	case process.OpHold:
		s.hold(holdsFor)
	case process.OpGoOn:
		s.hold(0)
	case process.OpDrain:
		return s.drain()
	case process.OpStop:
		s.over = true
	default:
		return fmt.Errorf("unknown request %q", r.Op)
	}
	return nil
}

// set starts a program or replaces the one of the same node.
func (s *supervisor) set(spec process.Spec) error {
	if s.over {
		return fmt.Errorf("the supervisor of %s is stopping", s.config.Owner)
	}
	if spec.Node == "" || len(spec.Args) == 0 {
		return fmt.Errorf("program %q of node %q cannot be run", spec.Args, spec.Node)
	}
	if old := s.programs[spec.Node]; old != nil {
		if old.spec.Fingerprint() == spec.Fingerprint() && !old.elsewhere() {
			return nil
		}
		if old.spec.Container != nil && spec.Container != nil && *old.spec.Container == *spec.Container {
			old.letGo()
		} else {
			old.end()
			old.endLeft(all)
		}
		s.states.forget(old.spec)
	}
	s.states.note(spec, process.Starting)
	s.programs[spec.Node] = launch(s.config, spec, s.left[spec.Node] || s.left[""], s.restorer, s)
	delete(s.left, spec.Node)
	return nil
}

// remove ends programs, those that a killed supervisor left too.
func (s *supervisor) remove(nodes []string) {
	gone := map[string]bool{}
	for _, node := range nodes {
		gone[node] = true
	}
	s.end(gone)
	s.endLeft(func(f process.Found) bool { return gone[f.Node] })
	s.rest()
}

// rest has the supervisor end where there is nothing to do any more.
func (s *supervisor) rest() {
	s.over = s.over || len(s.programs) == 0 && s.watchedBy() == nil && !s.draining
}

// endAll ends every program, and watches no more before.
func (s *supervisor) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.unwatch()
	nodes := map[string]bool{}
	for node := range s.programs {
		nodes[node] = true
	}
	s.end(nodes)
	if len(nodes) > 0 {
		s.endLeft(all)
	}
}

// end ends some programs, all at once.
func (s *supervisor) end(nodes map[string]bool) {
	var all sync.WaitGroup
	for node := range nodes {
		p := s.programs[node]
		if p == nil {
			continue
		}
		delete(s.programs, node)
		all.Add(1)
		go func() {
			defer all.Done()
			p.end()
			s.states.forget(p.spec)
		}()
	}
	all.Wait()
}

// ending tells whether the supervisor takes no more requests.
func (s *supervisor) ending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// leave ends the supervisor once there is nothing to supervise.
func (s *supervisor) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		s.stop()
	}
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
