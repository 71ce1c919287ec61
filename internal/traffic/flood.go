package traffic

import (
	"context"
	"errors"
	"time"
)

// drain is how long frames under way are waited for (RFC 2544 §23).
const drain = 2 * time.Second

// Flood is what arrived of what a process sent.
type Flood struct {
	// Rate at which packets arrived during the trial, packets/s.
	Rate float64
	// Arrived is how many did in all.
	Arrived uint64
}

// FloodDeadline bounds a flood of the given length.
func FloodDeadline(ctx context.Context, seconds float64) (context.Context, context.CancelFunc) {
	return Deadline(ctx, seconds+drain.Seconds())
}

// Flood counts while a process sends: from its first packet for the trial's length,
// at whose end it is interrupted, and then until frames under way arrived.
func (c *Counter) Flood(ctx context.Context, p *Process, seconds float64) (f Flood, err error) {
	var before, after uint64
	arrives := func() bool { before, err = c.Read(); return err != nil || before > 0 }
	if err := errors.Join(p.Until(ctx, arrives, "nothing of what it sends arrives"), err); err != nil {
		return f, err
	}
	began := time.Now()
	if err := p.During(ctx, time.Duration(seconds*float64(time.Second))); err != nil {
		return f, err
	}
	after, err = c.Read()
	f.Rate = float64(after-before) / time.Since(began).Seconds()
	if err = errors.Join(err, p.Stop(ctx)); err != nil {
		return f, err
	}
	time.Sleep(drain)
	f.Arrived, err = c.Read()
	return f, err
}
