package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/observe"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// FirstPort that traffic goes to.
const FirstPort = 5201

// Measurement runs the trials of one run.
type Measurement struct {
	Host  *Host
	Store *results.Store
	Tools []traffic.Tool
	Now   func() time.Time
	// Chains by condition: what must be up while it is measured.
	Chains []api.Chain
	Alone  []api.StandaloneFunction
	// Keep leaves the chain up, because it was up before.
	Keep bool
	// GoOn with the rest when the traffic of a trial fails, which is stored as a trial without
	// metrics that says why.
	GoOn bool
	// Trial is told before each trial; it may be nil.
	Trial func(done, total int, c trial.Condition, left time.Duration)
	// Stored is given the run at its start and after each trial; it may be nil. What
	// it is given does not change.
	Stored func(trial.Run)

	// Beside is called when a trial's traffic is about to begin, and what it returns
	// when that has ended; it may be nil.
	Beside func(p *plan.Plan, condition int) (end func() error, err error)

	// making are chains that came up from nothing since a trial was stored.
	making []trial.Making
	// lent standalone functions are up for this measurement alone.
	lent []lent
	up   *plan.Plan
	// companions are up beside it.
	companions []companion
	upFor      int
	proven     map[string]bool
	// unmade counts the chains in a row, from the first on, that could not be made or proven;
	// negative once one could.
	unmade int
	// chainOf tells conditions that need the same chain; see ChainOf.
	chainOf []int
	// instance counts the chains made in this run, those before an interruption
	// included; made is which of the run's planned instances is up.
	instance, made int
	// ended is when the latest trial did, or else when Run was called.
	ended time.Time
}

// Run measures what the run still lacks, in its shuffled order, and stores each
// trial as it ends. The run is brought up to date meanwhile, whatever happens.
func (m *Measurement) Run(ctx context.Context, r *trial.Run) (err error) {
	m.ended = m.Now()
	defer func() {
		if down := errors.Join(m.remove(), m.takeBack()); err == nil {
			err = down
		} else if down != nil {
			err = fmt.Errorf("%w; and removing what was made failed: %w", err, down)
		}
		r.State = stateAfter(err)
		// The state is written even when the run was interrupted.
		if store := m.Store.SetState(context.WithoutCancel(ctx), r.ID, r.State); err == nil {
			err = store
		}
	}()
	if err := m.noteLoad(ctx, r); err != nil {
		return err
	}
	todo := experiment.Remaining(m.order(r), done(r))
	if err := m.lendFunctions(ctx); err != nil {
		return err
	}
	if err := m.clear(ctx, r); err != nil {
		return err
	}
	m.tell(*r)
	for i, slot := range todo {
		if m.enough(r, i, todo) {
			break
		}
		c := r.Conditions[slot.Condition]
		if m.Trial != nil {
			m.Trial(i, len(todo), c, m.left(todo[i:], r))
		}
		if err := m.slot(ctx, slot, c, r); err != nil {
			return err
		}
	}
	if m.GoOn {
		return allFailed(r)
	}
	return nil
}

// order of all trials.
func (m *Measurement) order(r *trial.Run) []experiment.Slot {
	return m.Course(r.Conditions, r.Repeats, r.Redeploy).Order(mostRepeats(r), r.Seed)
}

// slot runs the trial, or the whole search, of one repeat of a condition.
func (m *Measurement) slot(ctx context.Context, slot experiment.Slot, c trial.Condition, r *trial.Run) error {
	if m.GoOn && hopeless(r, slot.Condition) {
		return m.keep(ctx, r, m.empty(slot, "not tried again, since it had failed each time"))
	}
	measure := m.single
	if c.Search != nil {
		measure = m.search
	}
	t, err := measure(ctx, slot, c, r)
	if err != nil {
		return m.goOn(ctx, slot, r, err)
	}
	return m.keep(ctx, r, t)
}

// keep stores a trial before anything is made of it.
func (m *Measurement) keep(ctx context.Context, r *trial.Run, t trial.Trial) error {
	t.Made, m.making = m.making, nil
	r.Trials = append(r.Trials, t)
	if err := m.Store.AppendTrial(context.WithoutCancel(ctx), r.ID, t); err != nil {
		return err
	}
	m.tell(*r)
	return nil
}

func (m *Measurement) tell(r trial.Run) {
	if m.Stored != nil {
		r.Trials, r.Warnings = slices.Clip(r.Trials), slices.Clone(r.Warnings)
		m.Stored(r)
	}
}

// mostRepeats of every condition that there may be.
func mostRepeats(r *trial.Run) int {
	if r.Until > 0 {
		return r.MaxRepeats
	}
	return r.Repeats
}

// enough tells, before the first trial of a block, whether the intervals are as
// narrow as was asked for.
func (m *Measurement) enough(r *trial.Run, i int, todo []experiment.Slot) bool {
	begins := i == 0 || todo[i-1].Repeat != todo[i].Repeat
	return r.Until > 0 && begins && experiment.Enough(*r, todo[i].Repeat-1)
}

func stateAfter(err error) string {
	switch {
	case err == nil:
		return trial.Done
	case errors.Is(err, context.Canceled):
		return trial.Interrupted
	}
	return trial.Failed
}

func done(r *trial.Run) []experiment.Slot {
	var slots []experiment.Slot
	for _, t := range r.Trials {
		if t.Step > 0 { // of a search, which is done when its result is there
			continue
		}
		slots = append(slots, experiment.Slot{Condition: t.Condition, Repeat: t.Repeat})
	}
	return slots
}

// single runs the one trial of a repeat that is no search.
func (m *Measurement) single(ctx context.Context, slot experiment.Slot, c trial.Condition, r *trial.Run) (trial.Trial, error) {
	return m.one(ctx, slot, c, nil, r)
}

// one runs one trial, bringing up the chain it needs first. An error that wraps
// context.Canceled tells that it was interrupted.
func (m *Measurement) one(ctx context.Context, slot experiment.Slot, c trial.Condition, asked *trial.Step, r *trial.Run) (trial.Trial, error) {
	t, err := m.tried(ctx, slot, c, asked, r)
	if errors.Is(err, context.Canceled) {
		return t, deploy.Interrupted(err)
	}
	return t, err
}

func (m *Measurement) tried(ctx context.Context, slot experiment.Slot, c trial.Condition, asked *trial.Step, r *trial.Run) (trial.Trial, error) {
	none := trial.Trial{}
	if err := m.bringUp(ctx, slot, r); err != nil {
		return none, err
	}
	if err := m.accompany(ctx, slot, c); err != nil {
		return none, err
	}
	tool := m.tool(c.Tool)
	if tool == nil {
		return none, fmt.Errorf("there is no traffic tool %q", c.Tool)
	}
	if err := reaches(m.up.Reached(), c, tool); err != nil {
		return none, err
	}
	path, err := loadPath(m.up, c, tool)
	if err != nil {
		return none, err
	}
	if err := errors.Join(m.tellPath(ctx, c, path, r), m.prove(ctx, c, tool)); err != nil {
		return none, err
	}
	m.unmade = proved
	job, err := m.job(c)
	if err != nil {
		return none, err
	}
	impairedBefore, err := impairedNow(m.up)
	if err != nil {
		return none, err
	}
	w := newWatch(m.up)
	w.control = control(ctx, m.up)
	watch, err := observe.Start(ctx, w.targets())
	if err != nil {
		return none, err
	}
	job.Asked = asked
	job.Started, job.Ended = w.started, watch.Ended
	end, err := m.beside(slot.Condition)
	if err != nil {
		_, _ = watch.Stop(context.WithoutCancel(ctx))
		return none, err
	}
	begun := make(chan struct{})
	job.Begins = func() { close(begun) }
	harmed := m.harm(ctx, slot.Condition, c, begun)
	began := m.Now()
	if _, prepares := tool.(traffic.Preparing); !prepares {
		job.Begins()
	}
	sample, err := m.offer(ctx, tool, c, job)
	outside, ended := began.Sub(m.ended), m.Now()
	m.ended = ended
	if ended := end(); err == nil {
		err = ended
	}
	if harming := harmed(sample.Metrics); err == nil {
		err = harming
	}
	observed, watched := watch.Stop(context.WithoutCancel(ctx))
	if err == nil {
		err = watched
	}
	if err == nil {
		observed.Impairments, err = impairedBefore.since(m.up)
	}
	if ctx.Err() != nil {
		return none, deploy.Interrupted(ctx.Err())
	}
	// What the tool says of a chain that broke is only what followed from that.
	for _, p := range append([]*plan.Plan{m.up}, m.active()...) {
		if broken := deploy.Alive(p); broken != nil {
			err = broken
		}
	}
	if err != nil {
		return none, unmeasured{fmt.Errorf("%s over the %s path, repeat %d: %w", c.Protocol, c.Path, slot.Repeat, err)}
	}
	if c.Harm != "" {
		if err := m.removeChain(); err != nil {
			return none, err
		}
	}
	fragmented(sample.Metrics, c, tool, observed.Fragments)
	t := trial.Trial{
		Condition: slot.Condition, Repeat: slot.Repeat, Asked: asked, Instance: m.instance, StartedAt: began, DurationS: ended.Sub(began).Seconds(), OutsideS: outside.Seconds(),
		Metrics: sample.Metrics, Histograms: sample.Histograms, Series: sample.Series, Observed: observed, Raw: sample.Raw, Warnings: append(sample.Warnings, upsets(observed, tool)...),
	}
	return t, nil
}

// beside begins what the caller wants beside a trial.
func (m *Measurement) beside(condition int) (end func() error, err error) {
	if m.Beside == nil {
		return func() error { return nil }, nil
	}
	return m.Beside(m.up, condition)
}

func (m *Measurement) tool(name string) traffic.Tool {
	for _, t := range m.Tools {
		if t.Name() == name {
			return t
		}
	}
	return nil
}
