package search

import (
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// A trial of which not all was sent is not the trial that was asked for. Methods
// that try a load once offer it again, as often as loss verification would; only a
// load that cannot be sent each time counts as one that is lost (MLRsearch §4.9.1).

// void tells that a trial misses the goal, and only because not all of it was sent.
func (o Outcome) void(g trial.Goal) bool {
	sent := o
	sent.OfferedPps = 0
	return o.unsent() > 0 && !o.meets(g) && sent.meets(g)
}

// again is a load that was not sent, and how long it was to be, if it is to be
// offered again.
func again(g trial.Goal, loads []atLoad, most int) (pps, seconds float64, more bool) {
	for _, l := range loads {
		for _, same := range byDuration(l.trials) {
			if len(same) < most && voids(g, same) == len(same) {
				return l.pps, same[0].DurationS, true
			}
		}
	}
	return 0, 0, false
}

// settled are the trials that count: void ones only where there are no others.
func settled(g trial.Goal, loads []atLoad) []atLoad {
	out := make([]atLoad, len(loads))
	for i, l := range loads {
		out[i].pps = l.pps
		for _, same := range byDuration(l.trials) {
			if voids(g, same) < len(same) {
				same = slices.DeleteFunc(same, func(o Outcome) bool { return o.void(g) })
			}
			out[i].trials = append(out[i].trials, same...)
		}
	}
	return out
}

func voids(g trial.Goal, trials []Outcome) (n int) {
	for _, o := range trials {
		if o.void(g) {
			n++
		}
	}
	return n
}

// byDuration groups the trials of a load, in the order in which they came.
func byDuration(trials []Outcome) (out [][]Outcome) {
	for _, o := range trials {
		i := slices.IndexFunc(out, func(same []Outcome) bool { return same[0].DurationS == o.DurationS })
		if i < 0 {
			i, out = len(out), append(out, nil)
		}
		out[i] = append(out[i], o)
	}
	return out
}
