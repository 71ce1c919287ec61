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

// framer is the tool of conditions that makes frames by itself at the ends' interfaces; "" where none does.
func (m *Measurement) framer(conditions []trial.Condition) string {
	for _, c := range conditions {
		if tool := m.tool(c.Tool); tool != nil && makesFrames(tool) {
			return c.Tool
		}
	}
	return ""
}

// mayBeHarmed refuses harm that a chain cannot come to, or that the tools of its load cannot tell of.
func (m *Measurement) mayBeHarmed(chain api.Chain, load api.Load, conditions []trial.Condition) error {
	all, err := api.ParseHarm(load.Harm)
	if err != nil || len(all) == 0 {
		return err
	}
	if load.Search != nil {
		return fmt.Errorf("harm: a search has trials of many loads, of which none says what harm costs; offer one load with rate: %w", ErrInput)
	}
	p, err := m.Host.Plan(chain, m.Alone, plan.Options{})
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := deploy.Harmable(p, h); err != nil {
			return fmt.Errorf("harm: %w: %w", err, ErrInput)
		}
		if tool := m.framer(conditions); tool != "" && deploy.HarmsEnd(p, h) {
			return fmt.Errorf("harm: interface %s takes that of an end of the chain away, at which %s sends and counts; harm that of another function, have wiring: ebpf, whose functions have theirs to themselves, "+
				"or ask with tool: ping: %w", h.Node, tool, ErrInput)
		}
	}
	return nil
}

// harm the chain that is measured when a third of a trial's load is over, which has begun when begun is closed, and heal it. What is returned waits for the end of that,
// adds what was measured of it, and is to be called when the trial is over.
func (m *Measurement) harm(ctx context.Context, condition int, c trial.Condition, begun <-chan struct{}) (ended func(metrics map[string]float64) error) {
	all, err := api.ParseHarm(c.Harm)
	if err != nil || len(all) == 0 {
		return func(map[string]float64) error { return err }
	}
	ctx, cancel := context.WithCancel(ctx)
	var took time.Duration
	done := make(chan error, 1)
	go func() {
		third := time.Duration(c.DurationS / 3 * float64(time.Second))
		if !waited(ctx, begun) || !waited(ctx, time.After(third)) {
			done <- errOver
			return
		}
		for _, h := range all {
			if err := deploy.Harm(m.up, h); err != nil {
				done <- fmt.Errorf("harm the chain: %w", err)
				return
			}
		}
		if !slices.ContainsFunc(all, func(h api.Harm) bool { return h.What != api.HarmProgram && h.What != api.HarmStopped }) {
			done <- nil // they come back by themselves
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

// waited for something, and not in vain.
func waited[T any](ctx context.Context, what <-chan T) bool {
	select {
	case <-what:
		return true
	case <-ctx.Done():
		return false
	}
}
