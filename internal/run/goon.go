package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// unmeasured is the error of a trial whose chain could be made and proven, and whose
// traffic failed.
type unmeasured struct{ error }

func (u unmeasured) Unwrap() error { return u.error }

// unmade is the error of a chain that could not be made, or whose path could not be proven.
type unmade struct {
	what string
	error
}

// Error implements error.
func (u unmade) Error() string { return u.what + ": " + u.error.Error() }

func (u unmade) Unwrap() error { return u.error }

// unmadeBy says what could not be done with a chain. What somebody interrupted, or another
// process has, says nothing of it.
func unmadeBy(what string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, deploy.ErrLocked) {
		return err
	}
	return unmade{what, err}
}

// proved is the count of chains that failed once there was one that did not.
const proved = -1

// mostUnmade of the first chains of a run, after which nobody expects anything of the others.
const mostUnmade = 3

// mostFailures of a condition that was never measured, after which it is not tried again.
const mostFailures = 2

// goOn from a trial whose chain could not be made or proven, or whose traffic failed: what it
// was is stored, without metrics, and the next trial has a chain made anew, since nobody
// knows what the failure left. Where none of the first chains could be made it is not theirs, and
// like any other error it ends the run.
func (m *Measurement) goOn(ctx context.Context, slot experiment.Slot, r *trial.Run, err error) error {
	var failed unmeasured
	var chain unmade
	isChain := errors.As(err, &chain)
	if !m.GoOn || !isChain && !errors.As(err, &failed) {
		return err
	}
	why := err
	if failed.error != nil {
		why = failed
	}
	if down := m.remove(); down != nil {
		return fmt.Errorf("%w; and removing what was made failed: %w", err, down)
	}
	if kept := m.keep(ctx, r, m.empty(slot, "failed: "+why.Error())); kept != nil {
		return kept
	}
	if isChain && m.unmade != proved && !measuredAny(r) {
		if m.unmade++; m.unmade == mostUnmade {
			return fmt.Errorf("none of the first %d chains could be measured; the last: %w", mostUnmade, err)
		}
	}
	return nil
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
	if measuredAny(r) || len(r.Trials) == 0 || len(r.Trials[0].Warnings) == 0 {
		return nil
	}
	return fmt.Errorf("no trial measured anything; the first %s", r.Trials[0].Warnings[0])
}

// measuredAny tells whether a run measured anything, before an interruption or since.
func measuredAny(r *trial.Run) bool {
	return slices.ContainsFunc(r.Trials, func(t trial.Trial) bool { return len(t.Metrics) > 0 })
}
