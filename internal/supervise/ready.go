package supervise

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/process"
)

const (
	// probeEvery is the time between two looks whether a program is ready.
	probeEvery = 20 * time.Millisecond
	// beginsIn is how long it may take to become the program on a busy machine, which is not the
	// program's time.
	beginsIn = 30 * time.Second
)

// probe finds out when the program is ready, and tells whether it became so. It goes on when that took too long,
// for a program may still become so.
func (p *program) probe(ctx context.Context, pid int, before []string) bool {
	limit := time.Duration(p.spec.Ready.TimeoutS * float64(time.Second))
	begun, allowed := false, max(limit, beginsIn)
	for began, wait := time.Now(), probeEvery; ctx.Err() == nil; {
		ready, why := false, "it has not begun"
		if begun || !still(pid, before) {
			if !begun {
				begun, began, allowed = true, time.Now(), limit
			}
			ready, why = p.ready(ctx, pid, time.Since(began))
		}
		if ctx.Err() != nil {
			return false
		}
		if ready {
			p.update(func(s *process.Status) {
				s.State, s.Message, s.Late, s.ReadyNs = process.Running, "", false, process.Clock()
			})
			return true
		}
		if time.Since(began) > allowed {
			p.update(func(s *process.Status) {
				s.Late, s.Message = true, fmt.Sprintf("is not ready after %v: %s", allowed, why)
			})
			wait = settled
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return false
}

// still tells whether a process is yet what it was started as, which enters the program's
// namespace and then becomes the program. Until then a port is looked for among the host's, and
// a command that is content with little would call ready what is not there. What has no
// arguments is just becoming something else.
func still(pid int, words []string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(words) > 0 && (len(text) == 0 || string(text) == strings.Join(words, "\x00")+"\x00")
}

// ready tells whether the program is ready, or why not.
func (p *program) ready(ctx context.Context, pid int, ran time.Duration) (ok bool, why string) {
	r := p.spec.Ready
	switch {
	case r.TCPPort != 0:
		return netns.Listens(pid, r.TCPPort), fmt.Sprintf("nothing listens on TCP port %d", r.TCPPort)
	case r.AtOnce:
		return true, ""
	case len(r.Command) > 0:
		err := p.answer(ctx, pid)
		return err == nil, fmt.Sprintf("its ready command fails (%v)", err)
	}
	return ran >= settled, "it has not run long enough"
}
