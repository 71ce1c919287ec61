package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/search"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// search runs the trials that a search asks for, from where those that are stored
// leave it, stores each, and gives what it came to.
func (m *Measurement) search(ctx context.Context, slot experiment.Slot, c trial.Condition, r *trial.Run) (none trial.Trial, err error) {
	method, err := search.New(*c.Search)
	if err != nil {
		return none, err
	}
	history := search.History(*r, slot.Condition, slot.Repeat)
	began := m.Now()
	for {
		step, more := method.Next(history)
		if !more {
			break
		}
		t, err := m.step(ctx, slot, c, step, r)
		if err != nil {
			return none, err
		}
		t.Step = len(history) + 1
		if err := m.keep(ctx, r, t); err != nil {
			return none, err
		}
		if err := pause(ctx, step.SettleS); err != nil {
			return none, err
		}
		history = append(history, search.OutcomeOf(c, t))
	}
	// What it came to follows from the steps, its length too: a search that was
	// interrupted took no longer for the time that it lay still.
	result := method.Result(history)
	metrics := result.Metrics()
	if bps, found := result.Goodput(history); found {
		metrics["goodput_bps"] = bps
	}
	return trial.Trial{Condition: slot.Condition, Repeat: slot.Repeat, Instance: m.instance, StartedAt: began,
		DurationS: result.TrafficS + result.WaitS, Metrics: metrics}, nil
}

// step runs one trial of a search, after the pause that comes before it.
func (m *Measurement) step(ctx context.Context, slot experiment.Slot, c trial.Condition, step trial.Step, r *trial.Run) (trial.Trial, error) {
	c.OfferedBps, c.OfferedPps, c.DurationS = 0, step.LoadPps, step.DurationS
	if m.Trial != nil {
		m.Trial(len(r.Trials), 0, c, 0)
	}
	if err := m.learn(ctx, slot, c, step, r); err != nil {
		return trial.Trial{}, err
	}
	return m.one(ctx, slot, c, &step, r)
}

// learn has the tool send the frames that fill tables, if it does, and pauses for them.
func (m *Measurement) learn(ctx context.Context, slot experiment.Slot, c trial.Condition, step trial.Step, r *trial.Run) error {
	if c.Search.LearningFrames && step.LearnS > 0 {
		if err := m.teach(ctx, slot, c, r); errors.Is(err, context.Canceled) {
			return deploy.Interrupted(err)
		} else if err != nil {
			return fmt.Errorf("learning frames over the %s path: %w", c.Path, err)
		}
	}
	return pause(ctx, step.LearnS)
}

// teach over the chain of the slot's condition, which must be up and proven as for a trial.
func (m *Measurement) teach(ctx context.Context, slot experiment.Slot, c trial.Condition, r *trial.Run) error {
	tool := m.tool(c.Tool)
	teacher, is := tool.(traffic.Teacher)
	if !is {
		return fmt.Errorf("%q sends none, although it did when the search was planned: %w", c.Tool, ErrInput)
	}
	if err := m.bringUp(ctx, slot, r); err != nil {
		return err
	}
	if err := m.prove(ctx, c, tool); err != nil {
		return err
	}
	job, err := m.job(c)
	if err != nil {
		return err
	}
	return teacher.Teach(ctx, job)
}

// pause waits unless the run is interrupted.
func pause(ctx context.Context, seconds float64) error {
	select {
	case <-ctx.Done():
		return deploy.Interrupted(ctx.Err())
	case <-time.After(time.Duration(seconds * float64(time.Second))):
		return nil
	}
}

// Calibrate completes the searches of conditions: one that names no highest load
// takes the most that its tool can send here by itself, or that the medium carries if that
// is less, and finds out first how much of it can be sent through the chain.
func Calibrate(ctx context.Context, conditions []trial.Condition, tools []traffic.Tool) error {
	for i, c := range conditions {
		if c.Search == nil {
			continue
		}
		s := *c.Search
		if s.MaxPps == 0 {
			ceiling, err := ceiling(ctx, c, tools)
			if err != nil {
				return err
			}
			s.MaxPps, s.Reach = ceiling, true
			if s.MediumPps > 0 {
				s.MaxPps = min(ceiling, s.MediumPps)
			}
		}
		s = search.Complete(s)
		s.LearningFrames = teaches(c.Tool, tools)
		if _, err := search.New(s); err != nil {
			return fmt.Errorf("%w: %w", err, ErrInput)
		}
		conditions[i].Search = &s
	}
	return nil
}

func teaches(name string, tools []traffic.Tool) bool {
	return slices.ContainsFunc(tools, func(t traffic.Tool) bool {
		_, does := t.(traffic.Teacher)
		return does && t.Name() == name
	})
}

func ceiling(ctx context.Context, c trial.Condition, tools []traffic.Tool) (float64, error) {
	i := slices.IndexFunc(tools, func(t traffic.Tool) bool { return t.Name() == c.Tool })
	if i < 0 {
		return 0, fmt.Errorf("there is no traffic tool %q", c.Tool)
	}
	framer, is := tools[i].(traffic.Framer)
	if !is {
		return 0, fmt.Errorf("%s cannot tell how much it can send; give the search a max_rate: %w", c.Tool, ErrInput)
	}
	pps, err := framer.Ceiling(ctx, c)
	if err == nil && pps <= 0 {
		err = errors.New("nothing arrived")
	}
	if err != nil {
		return 0, fmt.Errorf("how much %s can send: %w", c.Tool, err)
	}
	return pps, nil
}
