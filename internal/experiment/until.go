package experiment

import (
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// Enough tells whether a run whose repeats go on until its intervals are narrow
// may end, so many repeats of every condition being done; see [stats.Enough] for
// the rule and what it is worth. All conditions go on until all are narrow, so
// that every block stays whole, and what drifts does so under all alike. Where the
// chain is made anew between repeats, instances count in place of repeats, and
// only whole ones.
func Enough(run trial.Run, repeats int) bool {
	each := RepeatsEach(run)
	if repeats < run.Repeats || repeats%each != 0 {
		return false
	}
	return stats.Enough(repeats/each, func(n int) bool { return run.Narrow(n * each) })
}

// RepeatsEach is how many repeats are made on each instance of the chain before
// it is made anew; 1 for a run on one instance, where every repeat is its own look.
func RepeatsEach(run trial.Run) int {
	if run.Redeploy <= 1 {
		return 1
	}
	return max(1, run.Repeats/run.Redeploy)
}
