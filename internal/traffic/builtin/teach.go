package builtin

import (
	"context"
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
)

var _ traffic.Teacher = Tool{}

// What is learned from: a few frames, or one of each flow, in about a second at most.
const (
	leastTaught = 3
	teachRate   = 1000
	teachDrain  = 100 * time.Millisecond
)

// Teach implements traffic.Teacher: as many frames as there are flows, from both ends, with
// a signature of their own, so that no trial counts them. Sinks take them, so that the far
// end's stack has nothing to answer.
func (Tool) Teach(ctx context.Context, job traffic.Job) error {
	if err := teach(ctx, job); err != nil {
		return fmt.Errorf("builtin: %w", err)
	}
	return nil
}

func teach(ctx context.Context, job traffic.Job) error {
	lanes, err := teaching(job)
	defer closeLanes(lanes)
	if err != nil {
		return err
	}
	ctx, cancel := traffic.Deadline(ctx, lanes[0].load.lasts())
	defer cancel()
	_, err = runLanes(ctx, lanes)
	return err
}

// teaching are lanes both ways for what a job's flows are learned from.
func teaching(job traffic.Job) ([]*lane, error) {
	c := job.Condition
	c.OfferedBps, c.OfferedPps, c.Pattern, c.Burst, c.Bidirectional = 0, float64(max(teachRate, c.Flows)), periodic, 0, true
	job.Condition = c
	l, e, err := loadOf(job)
	if err != nil {
		return nil, err
	}
	l.train = train{uint64(max(leastTaught, c.Flows)), c.OfferedPps}
	l.duration, l.drain = endless, teachDrain
	return openLanes(e, l, c)
}
