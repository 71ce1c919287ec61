package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

const (
	// settled is how long a program without a probe must run to be ready, and how
	// long any must run for its restarts to be forgotten.
	settled = time.Second
	// grace is how long a program has to end when it is asked to.
	grace = 3 * time.Second

	firstPause, longestPause = 100 * time.Millisecond, 10 * time.Second
)

// program is one program, kept running by a goroutine.
type program struct {
	config Config
	spec   process.Spec
	cancel func()
	done   chan struct{}

	mu    sync.Mutex
	state process.Status
}

func launch(c Config, spec process.Spec) *program {
	ctx, cancel := context.WithCancel(context.Background())
	p := &program{config: c, spec: spec, cancel: cancel, done: make(chan struct{})}
	p.state = process.Status{Node: spec.Node, State: process.Starting, Fingerprint: spec.Fingerprint()}
	go func() {
		defer close(p.done)
		p.keep(ctx)
	}()
	return p
}

// end stops the program and waits until it is gone.
func (p *program) end() {
	p.cancel()
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
}

// keep starts the program again whenever it ends, as its restart policy says,
// after a pause that doubles while it keeps failing.
func (p *program) keep(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; {
		began := time.Now()
		err := p.once(ctx)
		if ctx.Err() != nil {
			return
		}
		message := "ended with exit code 0"
		if err != nil {
			message = err.Error()
		}
		again := p.spec.Restart == "always" || p.spec.Restart == "on-failure" && err != nil
		p.update(func(s *process.Status) {
			s.PID, s.Message, s.State = 0, message, process.Ended
			if again {
				s.State = process.Waiting
				s.Restarts++
			}
		})
		if !again {
			<-ctx.Done()
			return
		}
		if time.Since(began) > settled {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// once runs the program until it ends, or adopts the one that a killed
// supervisor left running.
func (p *program) once(ctx context.Context) error {
	if pid := orphan(p.config.Owner, p.spec); pid != 0 {
		return p.watch(ctx, pid, func() error { return waitStranger(pid) })
	}
	log, err := os.OpenFile(p.config.LogFile(p.spec.Node), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }()
	args := p.config.Inside(p.spec, p.spec.Args)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(append(os.Environ(), p.spec.Env...), mark(p.config.Owner, p.spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	return p.watch(ctx, cmd.Process.Pid, cmd.Wait)
}

// watch follows a running program until wait returns; a cancelled context ends
// it, first politely.
func (p *program) watch(ctx context.Context, pid int, wait func() error) error {
	p.update(func(s *process.Status) { s.PID, s.State = pid, process.Starting })
	probing, stopProbing := context.WithCancel(ctx)
	defer stopProbing()
	go p.probe(probing, pid)
	go p.trimLog(probing)
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	_ = syscall.Kill(-pid, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(grace):
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // whatever is left of its session
	return ctx.Err()
}

// probe finds out when the program is ready.
func (p *program) probe(ctx context.Context, pid int) {
	began := time.Now()
	for ctx.Err() == nil {
		if ready, why := p.ready(ctx, pid, time.Since(began)); ready {
			p.update(func(s *process.Status) {
				if s.PID == pid {
					s.State, s.Message = process.Running, ""
				}
			})
			return
		} else if limit := time.Duration(p.spec.Ready.TimeoutS * float64(time.Second)); time.Since(began) > limit {
			p.update(func(s *process.Status) { s.Message = fmt.Sprintf("not ready after %v: %s", limit, why) })
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *program) ready(ctx context.Context, pid int, ran time.Duration) (ok bool, why string) {
	r := p.spec.Ready
	switch {
	case r.TCPPort != 0:
		return netns.Listens(pid, r.TCPPort), fmt.Sprintf("nothing listens on TCP port %d", r.TCPPort)
	case len(r.Command) > 0:
		args := p.config.Inside(p.spec, r.Command)
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err := exec.CommandContext(ctx, args[0], args[1:]...).Run()
		return err == nil, fmt.Sprintf("ready command: %v", err)
	}
	return ran >= settled, ""
}

// The largest a log grows before its older half is dropped.
const longestLog = 16 << 20

// trimLog keeps a talkative program from filling the memory that /run lives in.
func (p *program) trimLog(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
		path := p.config.LogFile(p.spec.Node)
		if info, err := os.Stat(path); err != nil || info.Size() < longestLog {
			continue
		}
		text, err := os.ReadFile(path)
		if err == nil {
			// In place: the program keeps writing to the same file, at its end.
			_ = os.WriteFile(path, text[len(text)/2:], 0o644)
		}
	}
}
