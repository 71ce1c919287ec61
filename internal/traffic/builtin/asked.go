package builtin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

// Beyond one load for a time, a search may ask for these.

// train is frames back to back (RFC 9004), if there are any.
type train struct {
	frames uint64
	// pps is the rate that was asked for; more is as fast as it goes.
	pps float64
}

// second is the rate that a load turns to (RFC 2544 §26.5), if it does.
type second struct {
	after time.Duration
	pps   float64
}

// ask the load for what a step of a search wants.
func (l *load) ask(ctx context.Context, step *trial.Step) error {
	if step == nil {
		return nil
	}
	l.drain = seconds(step.DrainS)
	switch step.Kind {
	case trial.StepLatency:
		l.tag = max(1, seconds(step.TagAfterS))
	case trial.StepRecovery:
		if l.pattern == poisson {
			return errors.New("recovery is timed by when each packet was due, which a Poisson process does not tell; send periodically")
		}
		l.second = second{l.duration, step.ThenPps}
		l.duration += seconds(step.ThenS)
	case trial.StepBurst:
		return l.backToBack(ctx, step)
	}
	return nil
}

// backToBack has the load be exactly a burst: at the rate asked for, or, where that is
// about all that the generator can do, as fast as it goes.
func (l *load) backToBack(ctx context.Context, step *trial.Step) error {
	limits, err := selfTested(ctx, *l)
	if err != nil {
		return err
	}
	l.train = train{step.BurstFrames, step.LoadPps}
	l.duration, l.pattern, l.burst = endless, periodic, 1
	if step.LoadPps > limitShare*limits.ceiling {
		l.pps = 0
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// lasts is how long a trial of the load takes at most, s.
func (l *load) lasts() float64 {
	sending := l.duration.Seconds()
	if l.train.frames > 0 {
		sending = float64(l.train.frames) / l.train.pps
	}
	return sending + (l.drain + l.held).Seconds()
}

// burstSeconds is how long a burst took, up to when a frame after it would have been sent; of a single
// frame, by the rate that was asked for.
func (o *outcome) burstSeconds() float64 {
	n := float64(o.Progress.Sent)
	if n < 2 {
		return 1 / o.Load.train.pps
	}
	return float64(max(1, o.Progress.Last-o.Progress.Start)) / 1e9 * n / (n - 1)
}

// silent warns of a path that nothing came out of, which may only be slow.
func (o *outcome) silent() (warnings []string) {
	if o.Order.Arrivals == 0 {
		return []string{fmt.Sprintf("nothing came within %v after the last packet was sent; what takes longer counts as lost", o.Waited.Round(100*time.Millisecond))}
	}
	return nil
}

// answer adds what a search asked for to a sample of it.
func (t *totals) answer(lanes []outcome, m map[string]float64) (warnings []string) {
	l := lanes[0].Load
	switch {
	case l.tag > 0:
		return t.tag(lanes, m)
	case l.second.after > 0:
		return recoveries(lanes, m)
	case l.train.frames > 0:
		backToBackRates(lanes, m)
	}
	return nil
}

// tag is the one-way time of the tagged frames, the longest where there is one each way.
func (t *totals) tag(lanes []outcome, m map[string]float64) []string {
	longest := uint64(0)
	for _, o := range lanes {
		if o.Count.Tag == 0 {
			return []string{"the tagged frame did not come: there is no latency of it"}
		}
		longest = max(longest, o.Count.Tag-1) // the kernel's half counts from one
	}
	m["tag_latency_ns"] = float64(longest)
	return nil
}

// backToBackRates are those of a burst, which has no load over time: how fast what came
// of it came, if that was two frames at least.
func backToBackRates(lanes []outcome, m map[string]float64) {
	delete(m, "goodput_bps")
	delete(m, "forwarding_rate_pps")
	rate := 0.0
	for _, o := range lanes {
		if o.Order.Arrivals < 2 || o.Count.Last <= o.Count.First {
			return
		}
		rate += float64(o.Order.Arrivals-1) / (float64(o.Count.Last-o.Count.First) / 1e9)
	}
	m["forwarding_rate_pps"] = rate
}
