package experiment

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
)

// methodNote says how the uncertainty of a fit was had.
func methodNote(s series) string {
	trials, lengths := 0, []int{}
	for _, p := range s.fit.Points {
		if p.Fitted {
			lengths = append(lengths, p.N)
		}
	}
	for _, p := range s.points {
		for _, n := range lengths {
			if p.N == n {
				trials += len(p.Y)
			}
		}
	}
	note := fmt.Sprintf("least squares on the logarithm of %d trials at lengths %s", trials, list(lengths))
	if s.fit.L.CI95 == nil {
		return note + "; too few trials for intervals"
	}
	return note + fmt.Sprintf("; 95%% intervals are Student's t of the line with %d degrees of freedom, "+
		"carried back through the exponential, and suppose that trials scatter by the same share at every length", trials-2)
}

// readingsNote gives both ways in which Livi et al. §IV-C count k. Their example
// is for n = 5; without that length, the longest fitted one serves.
func readingsNote(m api.Model, fit model.Loss) string {
	at := fit.Points[0]
	for _, p := range fit.Points {
		if at.N != 5 && (p.Fitted || p.N == 5) {
			at = p
		}
	}
	return fmt.Sprintf("k = n−2 is fitted, as the source's step from n = 2 to 3 counts; its example for n = 5 counts k = n−1. "+
		"At n = %d: k = n−2 predicts %s, k = n−1 predicts %s with the same t(2) and l, measured %s",
		at.N, amount(m.Metric, fit.At(at.N)), amount(m.Metric, fit.AtAsPrinted(at.N)), amount(m.Metric, at.Measured))
}

// errorNote gives the largest error over the fitted lengths.
func errorNote(fit model.Loss) string {
	note := "largest relative error over the fitted lengths " + percent(fit.MaxError.Value)
	if ci := fit.MaxError.CI95; ci != nil {
		note += fmt.Sprintf(" (95%% interval %s to %s, by Bonferroni over the lengths, which errs on the wide side)", percent(ci[0]), percent(ci[1]))
	}
	return note
}
