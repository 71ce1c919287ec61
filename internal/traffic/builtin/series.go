package builtin

import (
	"math/bits"
	"time"

	"nfchain.dev/nfchain/bpf/sink"
	"nfchain.dev/nfchain/internal/trial"
)

// The steps of a trial's time, as bpf/include/moment.h has them.
const (
	moments   = 64
	clockBits = 48
	// precise is how many bits a step's length has in units of time, and 32 less that many those of its scale: steps begin within a
	// thousandth of one of when they are to, however long they are.
	precise = 13
	// fewerSteps than there are, so that a load that begins a little late ends in one.
	mostSteps = 50
	// headStart from when the origin is chosen until the load begins there.
	headStart = 2 * time.Millisecond
)

// steps that the packets of a load are counted by.
type steps struct {
	// step is their length; 0: there are none.
	step time.Duration
	// origin from which they count, ns.
	origin uint64
}

// stepsOf a load: none shorter than 10 ms, at most fifty.
func stepsOf(duration time.Duration) steps {
	if duration >= endless {
		return steps{}
	}
	for step := 10 * time.Millisecond; ; step *= 10 {
		for _, nice := range []time.Duration{1, 2, 5} {
			if duration <= mostSteps*nice*step {
				return steps{step: nice * step}
			}
		}
	}
}

// scale by which the kernel's half divides, times in units of 2^unit ns.
func (s steps) scale() (scale, unit uint64) {
	if s.step == 0 {
		return 0, 0
	}
	unit = uint64(max(0, bits.Len64(uint64(s.step))-precise))
	return 1 << (32 + unit) / uint64(s.step), unit
}

// moment is the step that a time lies in, as bpf/include/moment.h has it; false for none.
func (s steps) moment(at uint64) (int, bool) {
	if s.step == 0 {
		return 0, false
	}
	scale, unit := s.scale()
	m := (at - s.origin) & (1<<clockBits - 1) >> unit * scale >> 32
	return int(m), m < moments
}

// width of a step, s: as much of it as lies within the load.
func (o *outcome) width(i int) float64 {
	s := o.Load.steps
	from, to := s.origin+uint64(i)*uint64(s.step), s.origin+uint64(i+1)*uint64(s.step)
	from, to = max(from, o.Progress.Start), min(to, o.Progress.Stop)
	if to <= from {
		return 0
	}
	return float64(to-from) / 1e9
}

// narrow is the share of a step that must lie within a load to speak of its rate.
const narrow = 0.5

// course is what all lanes counted in one step.
type course struct {
	sent, came, sum, high uint64
	rate                  float64
	// measured tells that the step lies within a load.
	measured bool
}

func (c *course) add(o *outcome, i int) {
	width := o.width(i)
	if width < narrow*o.Load.step.Seconds() {
		return
	}
	p := &o.Count.Parts[i]
	c.sent, c.came, c.sum = c.sent+o.SentIn[i], c.came+p.Came, c.sum+p.Sum
	c.high = max(c.high, p.High)
	c.rate += float64(p.Arrived) / width
	c.measured = true
}

// seriesOf a trial: what came by when it came, the rest by when it was due.
func seriesOf(lanes []outcome) map[string]trial.Series {
	s := lanes[0].Load.steps
	all := map[string]trial.Series{}
	if s.step == 0 {
		return all
	}
	for i := range lastStep(lanes) {
		var c course
		for j := range lanes {
			c.add(&lanes[j], i)
		}
		c.put(all, i)
	}
	for name, values := range all {
		values.StepS = s.step.Seconds()
		all[name] = values
	}
	return all
}

// lastStep that a load lies in enough to speak of it, and one more.
func lastStep(lanes []outcome) (n int) {
	for i := range moments {
		for j := range lanes {
			if lanes[j].width(i) >= narrow*lanes[j].Load.step.Seconds() {
				n = i + 1
			}
		}
	}
	return n
}

// put a step into the series; what was not measured in it is absent.
func (c *course) put(all map[string]trial.Series, i int) {
	put := func(name string, measured bool, v float64) {
		s := all[name]
		s.Values = append(s.Values, nil)
		if measured {
			s.Values[i] = &v
		}
		all[name] = s
	}
	put("forwarding_rate_pps", c.measured, c.rate)
	put("loss_ratio", c.sent > 0, 1-float64(c.came)/float64(max(c.sent, 1)))
	put("one_way_latency_mean_ns", c.came > 0, float64(c.sum)/float64(max(c.came, 1)))
	put("one_way_latency_max_ns", c.came > 0, float64(c.high))
}

// mergedParts adds the steps of two cores up.
func mergedParts(a, b *sink.ProgramCount) {
	for i := range a.Parts {
		p, q := &a.Parts[i], &b.Parts[i]
		p.Came, p.Sum, p.Arrived = p.Came+q.Came, p.Sum+q.Sum, p.Arrived+q.Arrived
		p.High = max(p.High, q.High)
	}
}
