package experiment

import (
	"fmt"
	"math"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// findBetweenShare estimates how much of the variance of all repeats is there because the
// chain was made anew: the share that lies between its instances.
func findBetweenShare(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	s, err := pick(run, c.A, c.Metric)
	if err != nil {
		return finding{}, err
	}
	if run.Redeploy <= 1 {
		return finding{}, fmt.Errorf("all repeats were on one instance of the chain; redeploy in the load has it made anew")
	}
	groups := run.Instances(s.condition, c.Metric)
	parts, share := stats.PartVariance(groups), stats.BetweenShare(groups)
	if parts == nil || math.IsNaN(share.Value) {
		return finding{}, fmt.Errorf("%d instances of the chain with %s do not part the variance: it takes two, one of them with two repeats that differ", len(groups), Describe(c.A))
	}
	return finding{
		quantity: "share of the variance of " + c.Metric + " that lies between instances of the chain with " + Describe(c.A),
		estimate: share,
		repeats:  len(groups),
		found: fmt.Sprintf("%s of the variance lies between %d instances, which differ by %s of the mean, repeats on one of them by %s (standard deviations)",
			percent(share.Value), len(groups), percent(parts.Between), percent(parts.Within)),
		value: percent,
	}, nil
}
