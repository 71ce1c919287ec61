package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// Lock keeps other nfchain processes from a chain. The kernel frees it when its
// process dies, however it dies, and no other user can take it.
type Lock struct{ *rundir.Lock }

// Changes is the name of another lock of a chain's, which is held only while the chain is changed: whoever measures a chain has the
// chain's own for hours, and meanwhile its supervisor brings back containers that end.
func Changes(owner string) string { return owner + changes }

const changes = "/changes"

// ErrLocked is returned when another nfchain process has the chain.
var ErrLocked = errors.New("another nfchain process is working on it")

// patience is how long a command waits for another to finish with a chain.
const patience = 30 * time.Second

// LockFile is the file of an owner's lock. An owner's name may be any text.
func LockFile(owner string) string {
	return filepath.Join(rundir.Locks, url.PathEscape(owner)+".lock")
}

// Acquire takes the lock of a chain. It waits a while for another process, telling
// wait once, and then gives up with ErrLocked.
func Acquire(ctx context.Context, owner string, wait func(pid int)) (*Lock, error) {
	return AcquireWithin(ctx, owner, patience, wait)
}

// AcquireWithin is [Acquire] that waits as long as is said.
func AcquireWithin(ctx context.Context, owner string, patience time.Duration, wait func(pid int)) (*Lock, error) {
	l, err := takeWithin(ctx, LockFile(owner), patience, wait)
	if err == nil {
		return &Lock{l}, nil
	}
	what := "chain " + strings.TrimSuffix(owner, changes)
	if strings.HasPrefix(owner, "/") { // no chain's
		what = "choose " + owner[1:]
	}
	if taken := (*rundir.TakenError)(nil); errors.As(err, &taken) {
		return nil, fmt.Errorf("%s: %w (process %d); wait for it or end it", what, ErrLocked, taken.PID)
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return nil, fmt.Errorf("lock %s: %w", what, err)
}

// takeWithin locks a file as soon as nobody else has it, telling wait, which may be nil, once who has; after patience it gives up with the
// [rundir.TakenError].
func takeWithin(ctx context.Context, file string, patience time.Duration, wait func(pid int)) (*rundir.Lock, error) {
	began := time.Now()
	for deadline, told := began.Add(patience), wait == nil; ; {
		l, err := rundir.Take(file)
		var taken *rundir.TakenError
		if !errors.As(err, &taken) || time.Now().After(deadline) {
			return l, err
		}
		if !told && taken.PID != 0 && time.Since(began) > time.Second {
			told = true
			wait(taken.PID)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
