package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trial"
)

// HealMetric is how long `nfchain up` took that brought back what a chain had lost.
const HealMetric = "heal_ns"

// errOver is of a trial that tells nothing of the harm.
var errOver = errors.New("the trial was over before the chain was harmed; have trials last longer, or the machine do less besides")

// mayBeHarmed refuses harm that a chain cannot come to.
func (m *Measurement) mayBeHarmed(chain api.Chain, text string) error {
	all, err := api.ParseHarm(text)
	if err != nil || len(all) == 0 {
		return err
	}
	p, err := m.Host.Plan(chain, m.Alone, plan.Options{})
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := deploy.Harmable(p, h); err != nil {
			return fmt.Errorf("harm: %w: %w", err, ErrInput)
		}
	}
	return nil
}

// harm the chain that is measured when a third of a trial is over, and heal it. What is returned waits for the end of that,
// adds what was measured of it, and is to be called when the trial is over.
func (m *Measurement) harm(ctx context.Context, condition int, c trial.Condition) (ended func(metrics map[string]float64) error) {
	all, err := api.ParseHarm(c.Harm)
	if err != nil || len(all) == 0 {
		return func(map[string]float64) error { return err }
	}
	ctx, cancel := context.WithCancel(ctx)
	var took time.Duration
	done := make(chan error, 1)
	go func() {
		select {
		case <-ctx.Done():
			done <- errOver
			return
		case <-time.After(time.Duration(c.DurationS / 3 * float64(time.Second))):
		}
		for _, h := range all {
			if err := deploy.Harm(m.up, h); err != nil {
				done <- fmt.Errorf("harm the chain: %w", err)
				return
			}
		}
		if !slices.ContainsFunc(all, func(h api.Harm) bool { return h.What != api.HarmProgram && h.What != api.HarmStopped }) {
			done <- nil // somebody watches over programs
			return
		}
		// What takes interfaces away waits for a lock of the kernel's, on a busy machine for seconds.
		late := ctx.Err() != nil
		began := time.Now()
		_, _, err := m.Host.Up(context.WithoutCancel(ctx), m.Chains[condition], UpOptions{
			Options: plan.Options{Direct: m.up.Direct != nil, Runtimes: m.up.Runtimes}, Alone: m.Alone, Temporary: !m.Keep,
		})
		took = time.Since(began)
		if err == nil && late {
			err = errOver
		}
		done <- err
	}()
	return func(metrics map[string]float64) error {
		cancel()
		err := <-done
		if metrics != nil && took > 0 {
			metrics[HealMetric] = float64(took)
		}
		return err
	}
}
