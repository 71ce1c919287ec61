package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

const (
	// settled is how long a program without a probe must run to be ready, and how
	// long any must run for its failures to be forgotten.
	settled = time.Second

	firstPause, longestPause = 100 * time.Millisecond, 10 * time.Second
)

// program is one program, kept running by a goroutine.
type program struct {
	config Config
	spec   process.Spec
	// told of each state, and when it begins to end, or seems to.
	told listener
	// restorer brings its container back.
	restorer *restorer
	cancel   context.CancelCauseFunc
	done     chan struct{}
	// noted is held while it is noted which ready command an engine is asked to run, and that one has ended.
	noted sync.Mutex
	// again has one started again that has ended, and else would not be.
	again chan struct{}

	mu    sync.Mutex
	state process.Status
	// in is the namespace that it was started in, or was found in.
	in string
}

// elsewhere tells whether the program runs in a namespace that has gone: another has its name by now.
func (p *program) elsewhere() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.PID != 0 && p.in != "" && p.in != netns.Identity(p.spec.Netns)
}

// enters the namespace that it is to be in.
func (p *program) enters() {
	in := netns.Identity(p.spec.Netns)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.in = in
}

// listener is told what becomes of programs.
type listener interface {
	note(of process.Spec, now process.Status)
	dies(node string)
	// unready gives a program of these functions that is not ready, "" where there is none.
	unready(functions []string) string
}

// launch starts keeping a program; left tells that one may run already.
func launch(c Config, spec process.Spec, left bool, r *restorer, told listener) *program {
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &program{config: c, spec: spec, restorer: r, told: told, cancel: cancel, done: make(chan struct{}), again: make(chan struct{})}
	p.state = process.Status{Node: spec.Node, State: process.Starting, Fingerprint: spec.Fingerprint()}
	go func() {
		defer close(p.done)
		p.keep(ctx, left)
	}()
	return p
}

// end stops the program and waits until it is gone.
func (p *program) end() {
	p.cancel(nil)
	<-p.done
}

// errLetGo has a program run on that is followed no more.
var errLetGo = errors.New("is followed no more")

// letGo of a program, which runs on: another follows it from now on.
func (p *program) letGo() {
	p.cancel(errLetGo)
	<-p.done
}

func (p *program) status() process.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *program) update(change func(*process.Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.state)
	p.told.note(p.spec, p.state)
}

// tell the state, after which every other is told.
func (p *program) tell() { p.update(func(*process.Status) {}) }

// restart a program that does not do its work, or has ended and did not, unless it is to run once.
func (p *program) restart() {
	if p.spec.Restart == "never" {
		p.tell() // it is what it was
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.PID != 0 {
		_ = syscall.Kill(-p.state.PID, syscall.SIGKILL)
	}
	select {
	case p.again <- struct{}{}:
	default: // it has not ended yet, and is started again when it has
	}
}

// keep starts the program again whenever it ends, as its restart policy says: at once
// where it had run for long enough, and else after a pause that doubles while it keeps failing. A program that a killed
// supervisor left is taken over as it runs.
func (p *program) keep(ctx context.Context, left bool) {
	run, runs := p.start, false
	if p.spec.Container != nil {
		run = p.startContained
		if left || p.spec.Netns == netns.Host { // where others' processes are, too, and nobody has looked
			p.endLeft(asks)
		}
		note, _ := p.begunBefore()
		defer p.meanwhile(func() { p.endLeftBegun(ctx, note) })()
	} else if pid := p.adopt(left); pid != 0 {
		runs = true
		p.enters()
		run = func(ctx context.Context) error {
			return p.watch(ctx, pid, nil, 0, func() error { return waitAdopted(pid) })
		}
	}
	for pause := firstPause; ctx.Err() == nil; pause = min(max(2*pause, firstPause), longestPause) {
		if !runs && !p.begun(ctx) && !p.await(ctx) {
			return
		}
		runs = false
		began := time.Now()
		err := run(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > settled {
			pause = 0
		}
		if !p.ended(err, time.Since(began)) {
			select {
			case <-ctx.Done():
				return
			case <-p.again:
				p.update(func(s *process.Status) { s.Restarts++ })
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if p.spec.Container != nil {
			run = p.startContainedAgain
			continue
		}
		// What the last one started may hold what the next one needs.
		p.endLeft(all)
		run = p.start
	}
}

// meanwhile does something until its end is waited for.
func (*program) meanwhile(do func()) (wait func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		do()
	}()
	return func() { <-over }
}

// ended notes how the program ended and tells whether to start it again.
func (p *program) ended(err error, ran time.Duration) (again bool) {
	again = p.spec.Restart == "always" || p.spec.Restart == "on-failure" && err != nil
	p.update(func(s *process.Status) {
		if s.ReadyNs != 0 && ran > settled {
			s.Failures = 0
		}
		s.Failures++
		s.PID, s.Message, s.State, s.Late, s.ReadyCommand = 0, manner(err), process.Ended, false, nil
		if again {
			s.State = process.Waiting
			s.Restarts++
		}
	})
	return again
}

// manner says how a program ended.
func manner(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return process.EndedWell
	case !errors.As(err, &exit):
		return err.Error()
	case exit.Exited():
		return fmt.Sprintf("ended with exit code %d", exit.ExitCode())
	}
	return "ended by " + exit.String() // signal: killed
}

// await the programs that are to be ready when this one begins, and tell whether they are. Meanwhile the state says which one
// is not, beside how this one last ended.
func (p *program) await(ctx context.Context) bool {
	before := p.status()
	for said := ""; ctx.Err() == nil; {
		of := p.told.unready(p.spec.After)
		if of == "" {
			if said != "" {
				p.update(func(s *process.Status) { s.State, s.Message = before.State, before.Message })
			}
			return true
		}
		if of != said {
			said = of
			p.update(func(s *process.Status) {
				s.State, s.Message = process.Waiting, "waits for "+of
				if before.Message != "" {
					s.Message = before.Message + "; " + s.Message
				}
			})
		}
		select {
		case <-ctx.Done():
		case <-time.After(probeEvery):
		}
	}
	return false
}

// start starts the program and follows it until it ends.
func (p *program) start(ctx context.Context) error {
	log, err := os.OpenFile(p.config.LogFile(p.spec.Node), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("could not be started: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := p.command(p.spec.Args, 0)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(cmd.Env, process.Mark(p.config.Owner, p.spec))
	cpus, _ := api.ParseCPUList(p.spec.CPUs) // none where there is no list
	p.enters()
	if err := netns.StartAt(netns.Host, cmd, netns.Seat{Cores: cpus, Memory: p.spec.MemoryNodes}); err != nil {
		return fmt.Errorf("could not be started: %w", err)
	}
	return p.watch(ctx, cmd.Process.Pid, cmd.Args, 0, cmd.Wait)
}

// command runs args where the program runs, in a session of its own, and with the files of a process of
// the program's if one is given.
func (p *program) command(args []string, beside int) *exec.Cmd {
	words := p.config.Inside(p.spec, args, beside)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), p.spec.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// watch follows a running program until wait returns; a cancelled context ends
// it, first politely, by a signal of its own unless that is 0. Before is what the process is until it becomes the program.
func (p *program) watch(ctx context.Context, pid int, before []string, own syscall.Signal, wait func() error) error {
	p.update(func(s *process.Status) {
		s.PID, s.State, s.BeganNs, s.ReadyNs = pid, process.Starting, process.Clock(), 0
	})
	probing, stopProbing := context.WithCancel(ctx)
	var meanwhile sync.WaitGroup
	defer meanwhile.Wait()
	defer stopProbing()
	meanwhile.Add(1)
	go func() {
		defer meanwhile.Done()
		if !p.probe(probing, pid, before) {
			return
		}
		meanwhile.Add(1)
		go func() {
			defer meanwhile.Done()
			p.askOn(probing, pid)
		}()
		p.foretell(probing, pid)
	}()
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), errLetGo) {
		return ctx.Err()
	}
	patience := engine.Grace
	if heeds := engine.Ask(pid, own); !heeds && p.spec.Container != nil {
		patience = 0 // the first process of a container, which the kernel keeps from it
	}
	select {
	case <-ended:
	case <-time.After(patience):
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		<-ended
	}
	return ctx.Err()
}
