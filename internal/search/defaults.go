package search

import (
	"cmp"

	"nfchain.dev/nfchain/internal/trial"
)

// Pauses of a trial. RFC 2544 §23: 2 s after learning, 2 s for what is still on
// its way, 5 s to settle; RFC 9004 §6.2 wants at least 2 s after a burst too.
// A chain resolves nothing, so that one second drains it; MLRsearch lets a search
// of many short trials wait less, if it says so.
var (
	standardWaits = trial.Waits{LearnS: 2, DrainS: 2, SettleS: 5}
	shortWaits    = trial.Waits{DrainS: 1}
	quickWaits    = trial.Waits{DrainS: 0.2}
)

// usual are a method's own durations and repeats.
type usual struct {
	durationS float64
	repeats   int
	step      float64
}

var standard = map[string]usual{
	trial.RFC2544Throughput:     {60, 1, 0.1},
	trial.RFC2544StepDown:       {60, 1, 0.02}, // no step is given; §26.3 has at most 0.1
	trial.RFC2544Latency:        {120, 20, 0.1},
	trial.RFC2544FrameLoss:      {60, 1, 0.1},
	trial.RFC2544Recovery:       {60, 10, 0.1}, // "a number of times"
	trial.RFC9004BackToBack:     {60, 50, 0.1}, // RFC 2544 §26.4 has at least 50
	trial.RFC2889ForwardingRate: {30, 1, 0.1},
	trial.TST009:                {60, 1, 0.1},
	trial.MLRsearch:             {60, 1, 0.1},
}

// quick durations and repeats, the same for every method.
const (
	quickDurationS = 1
	quickRepeats   = 3
)

// defaultWidth is half a per cent, as is the custom in searches for a drop rate.
const defaultWidth = 0.005

// Complete fills in what a specification leaves open with the defaults of its
// method. A specification that is complete stays as it is.
func Complete(s trial.Search) trial.Search {
	own := standard[s.Method]
	if s.Quick {
		own.durationS, own.repeats = quickDurationS, min(own.repeats, quickRepeats)
	}
	s.MinPps = cmp.Or(s.MinPps, s.MaxPps/1000)
	s.DurationS = cmp.Or(s.DurationS, own.durationS)
	s.StepRatio = cmp.Or(s.StepRatio, own.step)
	s.Repeats = cmp.Or(s.Repeats, own.repeats)
	// The reference code of TST 009 has 3 and 5000.
	s.LossTrials, s.LossFrames = cmp.Or(s.LossTrials, 3), cmp.Or(s.LossFrames, 5000)
	s.BurstMaxS, s.BurstStepFrames = cmp.Or(s.BurstMaxS, 2), cmp.Or(s.BurstStepFrames, 16)
	s.Waits = waitsOf(s)
	s.Goals = goalsOf(s)
	s.MaxTrials = cmp.Or(s.MaxTrials, enough(s))
	return s
}

func waitsOf(s trial.Search) *trial.Waits {
	w := standardWaits
	switch {
	case s.Waits != nil:
		w = *s.Waits
	case s.Quick:
		w = quickWaits
	case s.Method == trial.MLRsearch:
		w = shortWaits
	}
	return &w
}

// goalsOf gives each goal what it leaves open, and a search without goals those
// of its method: NDR and PDR for MLRsearch, that of RFC 2544 for the rest.
func goalsOf(s trial.Search) trial.List[trial.Goal] {
	goals := s.Goals
	switch {
	case len(goals) > 0:
	case s.Method == trial.MLRsearch:
		goals = []trial.Goal{NDR(), PDR()}
	default:
		goals = []trial.Goal{RFC2544Goal()}
	}
	out := make([]trial.Goal, len(goals))
	for i, g := range goals {
		out[i] = completeGoal(g, s)
	}
	return out
}

func completeGoal(g trial.Goal, s trial.Search) trial.Goal {
	g.FinalDurationS = cmp.Or(g.FinalDurationS, goalDuration(s))
	g.DurationSumS = cmp.Or(g.DurationSumS, g.FinalDurationS)
	if s.Quick {
		g.FinalDurationS, g.DurationSumS = quickened(g)
		g.InitialDurationS = min(g.InitialDurationS, g.FinalDurationS)
	}
	if s.Method == trial.MLRsearch {
		g.InitialDurationS = cmp.Or(g.InitialDurationS, min(1, g.FinalDurationS))
	}
	g.InitialDurationS = cmp.Or(g.InitialDurationS, g.FinalDurationS)
	g.WidthRatio = cmp.Or(g.WidthRatio, max(defaultWidth, g.LossRatio))
	return g
}

// goalDuration of the trials that find a load, which for latency and recovery
// are not those that measure at it.
func goalDuration(s trial.Search) float64 {
	if s.Quick {
		return quickDurationS
	}
	return 60
}

// quickened keeps how many trials the sum holds, up to five.
func quickened(g trial.Goal) (final, sum float64) {
	final = min(g.FinalDurationS, quickDurationS)
	return final, final * min(g.DurationSumS/g.FinalDurationS, 5)
}

// NDR is the goal by which no-drop rates are published: no loss in half of
// 21 trials of a second each, as FD.io CSIT has it.
func NDR() trial.Goal {
	return trial.Goal{Name: "ndr", FinalDurationS: 1, DurationSumS: 21, ExceedRatio: 0.5, WidthRatio: defaultWidth, InitialDurationS: 1}
}

// PDR is the same with half a per cent of loss.
func PDR() trial.Goal {
	g := NDR()
	g.Name, g.LossRatio = "pdr", 0.005
	return g
}

// RFC2544Goal is the goal whose result is the throughput of RFC 2544 (MLRsearch §4.10.2).
func RFC2544Goal() trial.Goal {
	return trial.Goal{Name: "rfc2544", FinalDurationS: 60, DurationSumS: 60, WidthRatio: defaultWidth}
}

// TST009Goal is halving with loss verification where any loss is tried again once
// (MLRsearch §4.10.3: max(r) = 2, z = infinity).
func TST009Goal() trial.Goal {
	return trial.Goal{Name: "tst009", FinalDurationS: 60, DurationSumS: 120, ExceedRatio: 0.5, WidthRatio: defaultWidth}
}

// enough trials for any search that gets anywhere: for goals, sixty loads with
// all the trials that one can need; for bursts, forty trials and as many again
// for each verification.
func enough(s trial.Search) int {
	n := 200 + int(2/s.StepRatio) + 2*s.Repeats
	if s.Method == trial.RFC9004BackToBack {
		n += 40 * s.LossTrials * s.Repeats
	}
	for _, g := range s.Goals {
		n += 60 * int(min(1000, g.DurationSumS/g.FinalDurationS+1))
	}
	return min(n, 100000)
}
