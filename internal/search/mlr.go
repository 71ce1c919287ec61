package search

import (
	"cmp"
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// mlr is MLRsearch. Each goal goes through phases: first short trials and coarse
// bounds, then longer ones near what the phase before found, until the goal's own
// duration and width. All goals share all trials, the shortest and then the lowest
// trial that any of them wants goes first, and what the phases look for never
// enters the result, which is the load classification of Appendix A alone.
type mlr struct {
	spec   trial.Search
	phases [][]trial.Goal // by goal, the last phase being the goal itself
}

func newMLR(s trial.Search) Method {
	m := mlr{spec: s}
	for _, g := range s.Goals {
		m.phases = append(m.phases, phasesOf(g))
	}
	return m
}

// coarse is how much wider the bounds of the phases before the last may be. The
// first is as wide as a phase of short trials gets cheaply.
var coarse = []float64{2, 1}

// phasesOf puts phases before a goal, whose sums of durations grow geometrically
// from its initial duration; none if there is no room for them.
func phasesOf(g trial.Goal) []trial.Goal {
	phases := []trial.Goal{}
	grow := math.Pow(g.InitialDurationS/g.DurationSumS, 1/float64(len(coarse)))
	for i, times := range coarse {
		p := g
		p.DurationSumS = g.DurationSumS * math.Pow(grow, float64(len(coarse)-i))
		p.FinalDurationS = min(g.FinalDurationS, p.DurationSumS)
		p.WidthRatio = min(0.5, g.WidthRatio*times)
		if g.InitialDurationS < g.DurationSumS {
			phases = append(phases, p)
		}
	}
	return append(phases, g)
}

// Next is the trial that brings the goals on.
func (m mlr) Next(history []Outcome) (trial.Step, bool) {
	if len(history) >= m.spec.MaxTrials {
		return trial.Step{}, false
	}
	loads := byLoad(sound(history, trial.StepLoad))
	if len(loads) == 0 {
		return ask(m.spec, m.spec.MaxPps, m.shortest(), "what is forwarded of the highest load"), true
	}
	var wanted []wish
	for i := range m.phases {
		if step, wants := m.goal(i, loads); wants {
			wanted = append(wanted, step)
		}
	}
	if len(wanted) == 0 {
		return trial.Step{}, false
	}
	return slices.MinFunc(wanted, sooner).Step, true
}

// wish is a trial that a goal wants, and how much its phase spends on a load.
type wish struct {
	trial.Step
	sumS float64
}

// sooner puts short trials first, then early phases, and among them low loads,
// since a low load that misses a goal makes those above it irrelevant.
func sooner(a, b wish) int {
	return cmp.Or(cmp.Compare(a.DurationS, b.DurationS), cmp.Compare(a.sumS, b.sumS), cmp.Compare(a.LoadPps, b.LoadPps))
}

func (m mlr) shortest() float64 {
	shortest := math.Inf(1)
	for _, phases := range m.phases {
		shortest = min(shortest, phases[0].FinalDurationS)
	}
	return shortest
}

// goal is what a goal wants in the phase it is in: the last in which a load had
// more trials than the phase before needs, or one after it, where that has its
// bounds, or has come to the end of the loads allowed.
func (m mlr) goal(i int, loads []atLoad) (wish, bool) {
	phases := m.phases[i]
	at := len(phases) - 1
	for at > 0 && !entered(phases[at], phases[at-1], loads) {
		at--
	}
	for ; at < len(phases); at++ {
		p := m.phase(phases, at, loads)
		if pps, why := p.want(); why != "" {
			return wish{ask(m.spec, pps, p.goal.FinalDurationS, "goal "+p.goal.Name+": "+why), p.goal.DurationSumS}, true
		}
	}
	return wish{}, false
}

func (m mlr) phase(phases []trial.Goal, at int, loads []atLoad) phase {
	p := phase{spec: m.spec, goal: phases[at], found: relevant(phases[at], loads), loads: loads}
	if at > 0 {
		p.hint = relevant(phases[at-1], loads)
	}
	if at > 1 && p.hint.low != nil {
		p.guess = guess(p.hint.low.pps, phases[at-2], phases[at-1], loads)
	}
	return p
}

// guess from a lower bound that longer trials gave, and the higher one that
// shorter trials had given before.
func guess(now float64, before, after trial.Goal, loads []atLoad) float64 {
	var short []atLoad
	for _, l := range loads {
		trials := slices.DeleteFunc(slices.Clone(l.trials), func(o Outcome) bool { return o.DurationS >= after.FinalDurationS })
		short = append(short, atLoad{l.pps, trials})
	}
	then := relevant(before, short).low
	if then == nil || 1-now/then.pps <= 2*before.WidthRatio {
		return 0
	}
	return now * now / then.pps
}

func entered(now, before trial.Goal, loads []atLoad) bool {
	return slices.ContainsFunc(loads, func(l atLoad) bool {
		s := sum(now, l.trials)
		return s.lowFull+s.highFull > before.DurationSumS*1.001 && classify(now, l.trials) != undecided
	})
}

// Result by Appendices A and B, from all trials.
func (m mlr) Result(history []Outcome) Result {
	r := tally(m.spec, history)
	loads := byLoad(sound(history, trial.StepLoad))
	for _, g := range m.spec.Goals {
		r.Goals = append(r.Goals, goalResult(g, m.spec, loads))
	}
	_, more := m.Next(history)
	return closed(r, more, mlrClauses)
}
