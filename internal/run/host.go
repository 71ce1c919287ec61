// Package run is the loop that acts: it brings chains up and down, asks the pure
// packages for the next trial, runs it and stores it.
package run

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
)

// Host is this machine, with everything a run needs of it.
type Host struct {
	Catalogue plan.Catalogue
	Words     api.Catalogue
	Features  feature.Set
	// Progress is told what is being done; it may be nil.
	Progress func(what string, done, total int)
	// Doing is told what is being done at a moment, in words, where that takes long; it may be nil.
	Doing func(what string)
	// Say is told what a person should know at once, a line at a time.
	Say func(format string, args ...any)

	// images that were made of what this machine has, by the paths of that, which is read once: what is measured stays what it is.
	images sync.Map
}

// addressLock is held while a chain chooses its addresses and CPUs and reserves them, so that
// two chains never choose the same; where it takes more that others may take too, until it has that. Its name is no chain's.
const addressLock = "/addresses"

// untilOthersAreUp is how long a chain waits for its addresses while another is made that takes what others may take too: where it has
// hundreds of containers, it has all of that when these run, which takes minutes.
const untilOthersAreUp = 10 * time.Minute

// lockAddresses takes them for this process.
func (h *Host) lockAddresses(ctx context.Context) (*deploy.Lock, error) {
	return deploy.AcquireWithin(ctx, addressLock, untilOthersAreUp, func(pid int) {
		h.Say("waiting for another nfchain process (%d), which makes a chain, to take its addresses", pid)
	})
}

// Lock takes a chain for this process; see [deploy.Acquire].
func (h *Host) Lock(ctx context.Context, name string) (*deploy.Lock, error) {
	return deploy.Acquire(ctx, name, func(pid int) {
		h.Say("waiting for another nfchain process (%d) to finish with %s", pid, strings.TrimPrefix(name, "/"))
	})
}

// changing takes a chain for being changed; see [deploy.Changes].
func (h *Host) changing(ctx context.Context, name string) (*deploy.Lock, error) {
	return deploy.Acquire(ctx, deploy.Changes(name), func(pid int) {
		h.Say("waiting for process %d, which brings back what ended of %s", pid, name)
	})
}

// ErrInput marks errors that lie in what the user gave.
var ErrInput = errors.New("wrong input")
