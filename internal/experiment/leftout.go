package experiment

import (
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// leftOut tells whether a run dropped something that a check selects at a value of the factor
// that it goes over.
func leftOut(run trial.Run, c api.Check, value any) bool {
	return slices.ContainsFunc(named(c), func(where map[string]any) bool { return isDropped(run, with(where, c.Over, value)) })
}

// isDropped tells whether a run has no condition of a selection because it dropped it. Cells
// of other fields than the selection's agree with it too, so what was measured, or could not
// be had, was not dropped.
func isDropped(run trial.Run, where map[string]any) bool {
	if len(matching(run, where)) > 0 || refusal(run, where) != "" {
		return false
	}
	return slices.ContainsFunc(run.Dropped, func(cell trial.Infeasible) bool {
		return isCalibrated(cell.Factors) == isCalibrated(where) && agrees(cell.Factors, where)
	})
}

// notLookedAt names the values that a check would go over had the run not dropped them.
func notLookedAt(spec api.ExperimentSpec, run trial.Run, c api.Check) string {
	names := droppedValues(spec, run, c)
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; not looked at for want of time: %s", strings.Join(names, ", "))
}

// droppedValues are those that a check would go over had the run not dropped them, in words.
func droppedValues(spec api.ExperimentSpec, run trial.Run, c api.Check) (names []string) {
	if c.Over == "" || len(c.Values) > 0 {
		return nil
	}
	for _, v := range varies(spec, c) {
		if leftOut(run, c, v) {
			names = append(names, Describe(map[string]any{c.Over: v}))
		}
	}
	return names
}
