package run

import (
	"context"
	"errors"
	"fmt"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/trial"
)

// unmeasured is the error of a trial whose chain could be made and proven, and whose
// traffic failed.
type unmeasured struct{ error }

func (u unmeasured) Unwrap() error { return u.error }

// mostFailures of a condition that was never measured, after which it is not tried again.
const mostFailures = 2

// goOn from a trial whose traffic failed, or whose chain has interfaces that do not take what
// is to be set at them: what it was is stored, without metrics, and the next trial has a
// chain made anew, since nobody knows what the failure left. Any other error ends the run.
func (m *Measurement) goOn(ctx context.Context, slot experiment.Slot, r *trial.Run, err error) error {
	var failed unmeasured
	var refused tuning.Refused
	if !m.GoOn || !errors.As(err, &failed) && !errors.As(err, &refused) {
		return err
	}
	why := err
	if failed.error != nil {
		why = failed
	}
	if down := m.remove(); down != nil {
		return fmt.Errorf("%w; and removing what was made failed: %w", err, down)
	}
	return m.keep(ctx, r, m.empty(slot, "failed: "+why.Error()))
}

// hopeless tells that a condition was tried and never measured.
func hopeless(r *trial.Run, condition int) bool {
	tried := 0
	for _, t := range r.Trials {
		if t.Condition == condition && len(t.Metrics) > 0 {
			return false
		} else if t.Condition == condition {
			tried++
		}
	}
	return tried >= mostFailures
}

// empty is a trial that measured nothing.
func (m *Measurement) empty(slot experiment.Slot, why string) trial.Trial {
	return trial.Trial{Condition: slot.Condition, Repeat: slot.Repeat, Instance: m.instance, StartedAt: m.Now(), Warnings: []string{why}}
}

// allFailed is an error where a run has trials and none of them measured anything.
func allFailed(r *trial.Run) error {
	for _, t := range r.Trials {
		if len(t.Metrics) > 0 {
			return nil
		}
	}
	if len(r.Trials) == 0 || len(r.Trials[0].Warnings) == 0 {
		return nil
	}
	return fmt.Errorf("no trial measured anything; the first %s", r.Trials[0].Warnings[0])
}
