package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// drain has the chain brought up again when no flow goes by an older version of its path any more, or by a replica that is taken out, so that
// what only such flows went by is removed.
func (s *supervisor) drain() error {
	switch {
	case s.over:
		return fmt.Errorf("the supervisor of %s is stopping", s.config.Owner)
	case s.config.Again == nil:
		return fmt.Errorf("nothing brings %s up again", s.config.Owner)
	case s.draining:
		return nil
	}
	s.draining = true
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		s.drained()
	}()
	return nil
}

const (
	// lookAtMost and lookAtLeast are how long flows are left alone until they are looked at again.
	lookAtLeast, lookAtMost = 50 * time.Millisecond, 5 * time.Second
	// againAfter is how long after a failure the chain is brought up again.
	againAfter = 10 * time.Second
)

// drained waits until all flows go the newest path, and by no replica that is taken out.
func (s *supervisor) drained() {
	for {
		wait, err := s.older()
		if err == nil && wait == 0 {
			err = s.again()
			if err == nil && s.united() {
				return
			}
		}
		if err != nil {
			s.config.say(plan.WiringNode, fmt.Sprintf("keeps an older path, or replicas that are taken out: %v", err))
		}
		if err != nil || wait == 0 {
			wait = againAfter
		}
		select {
		case <-s.ends:
			return
		case <-time.After(wait):
		}
	}
}

// united tells whether that is done, and has the supervisor end where it was all.
func (s *supervisor) united() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if staying, err := s.staying(); err != nil || staying != nil {
		return false
	}
	if leaving, err := s.leaving(); err != nil || leaving != nil {
		return false
	}
	s.draining = false
	if s.rest(); s.over {
		s.stop()
	}
	return true
}

// older is how long to wait until flows on older versions, and those of replicas that are taken out, are looked at again; 0 when there are none of one
// kind, so that something can be removed.
func (s *supervisor) older() (wait time.Duration, err error) {
	staying, err := s.staying()
	if err != nil {
		return 0, err
	}
	leaving, err := s.leaving()
	if err != nil {
		return 0, err
	}
	var idle time.Duration
	switch {
	case staying == nil && leaving == nil, staying != nil && staying.Flows == 0 && staying.Census == 0, leaving != nil && leaving.Flows() == 0:
		return 0, nil
	case leaving == nil:
		idle = staying.Idle
	case staying == nil:
		idle = leaving.Idle
	default:
		idle = min(staying.Idle, leaving.Idle)
	}
	return max(lookAtLeast, min(idle/8, lookAtMost)), nil
}

// staying are the flows of the chain on older versions; nil where there are no such versions any more.
func (s *supervisor) staying() (*steer.Staying, error) {
	h, err := netns.Open(namespace.Name(s.config.Owner, plan.WiringNode))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return steer.StayingOn(resource.At(h, s.config.Owner))
}

// again brings the chain up, unless the supervisor ends meanwhile.
func (s *supervisor) again() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-s.ends:
			stop()
		case <-ctx.Done():
		}
	}()
	return s.config.Again(ctx)
}
