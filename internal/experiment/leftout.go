package experiment

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// leftOut tells whether a run dropped something that a check selects at a value of the factor
// that it goes over.
func leftOut(run trial.Run, c api.Check, value any) bool {
	for _, cell := range run.Dropped {
		for _, where := range named(c) {
			if isCalibrated(cell.Factors) == isCalibrated(where) && agrees(cell.Factors, with(where, c.Over, value)) {
				return true
			}
		}
	}
	return false
}

// notLookedAt names the values that a check would go over had the run not dropped them.
func notLookedAt(spec api.ExperimentSpec, run trial.Run, c api.Check) string {
	if c.Over == "" || len(c.Values) > 0 {
		return ""
	}
	var names []string
	for _, v := range varies(spec, c) {
		if leftOut(run, c, v) {
			names = append(names, Describe(map[string]any{c.Over: v}))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; not looked at for want of time: %s", strings.Join(names, ", "))
}
