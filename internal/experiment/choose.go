package experiment

import (
	"fmt"
	"math"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// Choice is which condition of a run to prefer to the one that was preferred before.
type Choice struct {
	// Condition is the one to prefer, an index; Best the one that was best where it was
	// looked for, which may be another.
	Condition, Best int
	// Ratio of what the best measured to what the one before did, in the repeats in which
	// it was not looked for; NaN where the best is the one before.
	Ratio stats.Estimate
	// Why in words.
	Why string
}

// apartIn are those of some factors in which the conditions of a run differ.
func apartIn(run trial.Run, factors map[string]any) map[string]any {
	out := map[string]any{}
	for field, v := range factors {
		for _, c := range run.Conditions {
			if other, has := c.Factors[field]; !has || !same(field, v, other) {
				out[field] = v
			}
		}
	}
	return out
}

// Choose looks for the condition with the highest mean in the odd repeats, and compares it
// with the one that was preferred before in the even ones: what wins among many has been
// lucky too. It is preferred only if it is surely better there.
func Choose(run trial.Run, metric string, before int) (Choice, error) {
	search, judge := halves(run)
	b, err := best(search, judge, map[string]any{}, metric)
	if err != nil {
		return Choice{}, err
	}
	c := Choice{Condition: before, Best: b.condition, Ratio: stats.Estimate{Value: math.NaN()}}
	name := func(i int) string { return Describe(apartIn(run, run.Conditions[i].Factors)) }
	if b.condition == before {
		c.Why = name(before) + " measures most"
		return c, nil
	}
	old := sample{before, lengthOf(run.Conditions[before]), judge.Independent(before, metric)}
	if len(old.values) == 0 {
		c.Condition, c.Why = b.condition, fmt.Sprintf("%s measured nothing, and %s most", name(before), name(b.condition))
		return c, nil
	}
	c.Ratio = ratioOf(judge, old, b, metric)
	range95 := "no interval"
	if ci := c.Ratio.CI95; ci != nil {
		range95 = fmt.Sprintf("95%% interval %s to %s", times(ci[0]), times(ci[1]))
		if ci[0] > 1 {
			c.Condition = b.condition
		}
	}
	c.Why = fmt.Sprintf("%s measures %s times as much as %s (%s)", name(b.condition), times(c.Ratio.Value), name(before), range95)
	if c.Condition == before {
		c.Why += ", which may be chance: the latter stays"
	}
	return c, nil
}
