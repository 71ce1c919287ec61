package report

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// GateOptions is how the gate of `bench --baseline` is tried out.
type GateOptions struct {
	// Tolerance of the gate, as a share; 0 stands for [DefaultTolerance].
	Tolerance float64
	// Repeats of each side of a pair; 0 for as many as the runs have.
	Repeats int
	// Pairs that are drawn, and the seed that draws them.
	Pairs int
	Seed  int64
}

// Gate is what the gate is worth with the trials of some runs: how often it raises
// a false alarm, and how small a slowdown it catches.
type Gate struct {
	SchemaVersion int                `json:"schema_version"`
	Runs          trial.List[string] `json:"runs"`
	Tolerance     float64            `json:"tolerance_ratio"`
	Repeats       int                `json:"repeats"`
	Seed          int64              `json:"seed"`
	// FalseAlarms are those of pairs that were drawn from the same.
	FalseAlarms GateShare `json:"false_alarms"`
	// Caught is what became of the same pairs with the second slowed down.
	Caught trial.List[GateShare] `json:"caught"`
	// Smallest slowdown from which on 95% of the pairs were caught; absent where
	// none of those tried was.
	Smallest *float64 `json:"smallest_caught_ratio,omitempty"`
}

// GateShare is how many pairs of one slowdown raised an alarm.
type GateShare struct {
	Slowdown float64    `json:"slowdown_ratio"`
	Alarms   int        `json:"alarms"`
	Pairs    int        `json:"pairs"`
	CI95     [2]float64 `json:"ci95"` // Clopper and Pearson's, of the share
}

// caughtShare is the share of slowed pairs that a gate is to catch.
const caughtShare = 0.95

// slowdowns that are tried.
var slowdowns = []float64{.005, .01, .015, .02, .025, .03, .035, .04, .05, .06, .08, .10, .15, .20, .30, .50}

// TryGate draws pairs of samples from stored trials and compares them as the gate
// does. Each side of a pair comes from another run, drawn anew for each pair, so
// that what differs between runs of the same chain counts; from one run alone, the
// sides are repeats of it drawn apart, which knows nothing of that. A slowed side has
// its main metrics worse by the slowdown, each trial alike.
//
// The runs must have conditions in common, through the chain where there are such,
// and enough repeats; else the error says which.
func TryGate(runs []trial.Run, o GateOptions) (Gate, error) {
	o.Tolerance = cmp.Or(o.Tolerance, DefaultTolerance)
	pools, err := gatePools(runs)
	if err != nil {
		return Gate{}, err
	}
	if o.Repeats, err = gateRepeats(pools, o.Repeats); err != nil {
		return Gate{}, err
	}
	g := Gate{SchemaVersion: trial.SchemaVersion, Tolerance: o.Tolerance, Repeats: o.Repeats, Seed: o.Seed}
	for _, r := range runs {
		g.Runs = append(g.Runs, r.ID)
	}
	alarms := make([]int, len(slowdowns)+1)
	for pair := range o.Pairs {
		if err := tryPair(pools, o, pair, alarms); err != nil {
			return Gate{}, err
		}
	}
	g.fill(alarms, o.Pairs)
	return g, nil
}

// fill turns counts of alarms, those without a slowdown first, into shares.
func (g *Gate) fill(alarms []int, pairs int) {
	share := func(slowdown float64, n int) GateShare {
		return GateShare{slowdown, n, pairs, stats.ProportionInterval(n, pairs)}
	}
	g.FalseAlarms = share(0, alarms[0])
	for i, s := range slowdowns {
		g.Caught = append(g.Caught, share(s, alarms[i+1]))
	}
	for _, c := range slices.Backward(g.Caught) {
		if float64(c.Alarms) < caughtShare*float64(pairs) {
			break
		}
		g.Smallest = &c.Slowdown
	}
}

// pool is the repeats of one run to draw from, each with a trial of every
// condition.
type pool struct {
	run     trial.Run
	repeats [][]trial.Trial
}

// gatePools takes of each run what its gate goes by.
func gatePools(runs []trial.Run) (pools []pool, err error) {
	for _, r := range runs {
		if r.Redeploy > 1 {
			return nil, fmt.Errorf("run %s is over several instances of the chain, whose repeats cannot be drawn one by one", r.ID)
		}
		p := newPool(r)
		if len(p.repeats) == 0 {
			return nil, fmt.Errorf("run %s has no repeat with a trial of every condition that a gate goes by", r.ID)
		}
		if len(pools) > 0 && !sameConditions(pools[0].run, p.run) {
			return nil, fmt.Errorf("runs %s and %s have not the same conditions", pools[0].run.ID, r.ID)
		}
		pools = append(pools, p)
	}
	if len(pools) == 0 {
		return nil, fmt.Errorf("no run is given to draw from")
	}
	return pools, nil
}

// newPool keeps the main metric of each trial of the blocks that are whole.
func newPool(r trial.Run) pool {
	p := pool{run: trial.Run{ID: r.ID, Chain: r.Chain, Environment: r.Environment, Conditions: r.Conditions}}
	blocks := map[int][]trial.Trial{}
	for _, t := range r.Trials {
		m := trial.MainMetric(func(name string) bool { _, has := t.Metrics[name]; return has })
		if m != "" && t.Step == 0 { // a search's steps are no repeats
			blocks[t.Repeat] = append(blocks[t.Repeat], trial.Trial{Condition: t.Condition, Metrics: trial.Map[float64]{m: t.Metrics[m]}})
		}
	}
	for _, repeat := range slices.Sorted(maps.Keys(blocks)) {
		if len(blocks[repeat]) == len(r.Conditions) {
			p.repeats = append(p.repeats, blocks[repeat])
		}
	}
	return p
}

func sameConditions(a, b trial.Run) bool {
	return slices.EqualFunc(a.Conditions, b.Conditions, func(x, y trial.Condition) bool { return key(x, true) == key(y, true) })
}

// gateRepeats is how many repeats each side of a pair has.
func gateRepeats(pools []pool, asked int) (int, error) {
	least := len(pools[0].repeats)
	for _, p := range pools {
		least = min(least, len(p.repeats))
	}
	if len(pools) == 1 {
		least /= 2
	}
	switch {
	case asked > least:
		return 0, fmt.Errorf("%d repeats on each side cannot be drawn; these runs give %d", asked, least)
	case least < 2:
		return 0, fmt.Errorf("these runs give %s on each side of a pair, and it takes two or more; measure with --repeats 4 or more, or name several runs", words.Plural(least, "repeat"))
	}
	return cmp.Or(asked, least), nil
}

// tryPair draws one pair and counts the alarms of it, as it is and slowed down.
func tryPair(pools []pool, o GateOptions, pair int, alarms []int) error {
	a, b := drawPair(pools, o.Repeats, rand.NewPCG(uint64(o.Seed), uint64(pair)))
	before := New(a)
	for i, slowdown := range append([]float64{0}, slowdowns...) {
		c, err := Compare(before, New(slowed(b, slowdown)), CompareOptions{Force: true, Tolerance: o.Tolerance})
		if err != nil {
			return err
		}
		if c.Verdict == Slower {
			alarms[i]++
		}
	}
	return nil
}

// drawPair draws both sides without putting back.
func drawPair(pools []pool, repeats int, source *rand.PCG) (a, b trial.Run) {
	if len(pools) == 1 {
		drawn := draw(pools[0].repeats, 2*repeats, source)
		return pools[0].with(drawn[:repeats]), pools[0].with(drawn[repeats:])
	}
	two := draw(pools, 2, source)
	return two[0].with(draw(two[0].repeats, repeats, source)), two[1].with(draw(two[1].repeats, repeats, source))
}

// draw n of several without putting back (Fisher and Yates). It is written out
// because the library promises its generator's numbers for ever, but not what it
// makes of them.
func draw[T any](from []T, n int, source *rand.PCG) []T {
	out := slices.Clone(from)
	for i := range n {
		high, _ := bits.Mul64(source.Uint64(), uint64(len(out)-i))
		j := i + int(high)
		out[i], out[j] = out[j], out[i]
	}
	return out[:n]
}

// with is the pool's run with these repeats.
func (p pool) with(repeats [][]trial.Trial) trial.Run {
	r := p.run
	r.Repeats = len(repeats)
	for i, block := range repeats {
		for _, t := range block {
			t.Repeat = i + 1
			r.Trials = append(r.Trials, t)
		}
	}
	return r
}

// slowed makes the metrics of a run worse by a share: those through the chain, since
// the direct path has nothing that could be slower; or all, where there is no chain.
func slowed(r trial.Run, share float64) trial.Run {
	chain := slices.ContainsFunc(r.Conditions, func(c trial.Condition) bool { return c.Path == trial.PathChain })
	r.Trials = slices.Clone(r.Trials)
	for i, t := range r.Trials {
		if chain && r.Conditions[t.Condition].Path != trial.PathChain {
			continue
		}
		metrics := trial.Map[float64]{}
		for m, x := range t.Metrics {
			if metrics[m] = x * (1 - share); goodDirection(m) == lowerIsBetter {
				metrics[m] = x / (1 - share)
			}
		}
		r.Trials[i].Metrics = metrics
	}
	return r
}
