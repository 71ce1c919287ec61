package search

import (
	"cmp"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// Spec is what a file asks for, not yet complete: where it gives no highest load,
// the caller fills in what the generator can send, and no limit of the medium.
func Spec(s api.Search) trial.Search {
	out := trial.Search{
		Method: s.Method, MinPps: float64(s.MinRate.Frames), MaxPps: float64(s.MaxRate.Frames),
		MediumPps: float64(s.MediumRate.Frames), ThroughputPps: float64(s.Throughput.Frames),
		DurationS: seconds(s.Duration), StepRatio: s.StepRatio, Repeats: s.Repeats,
		LossTrials: s.LossTrials, LossFrames: float64(s.LossFrames),
		BurstMaxS: seconds(s.BurstMax), BurstStepFrames: uint64(s.BurstStep),
		MaxTrials: s.MaxTrials, Quick: s.Quick,
	}
	if w := s.Waits; w != nil {
		out.Waits = &trial.Waits{LearnS: seconds(w.Learn), DrainS: seconds(w.Drain), SettleS: seconds(w.Settle)}
	}
	for _, g := range s.Goals {
		out.Goals = append(out.Goals, goalSpec(g))
	}
	return out
}

func seconds(d api.Duration) float64 { return time.Duration(d).Seconds() }

// alike are the goals that another may be like.
var alike = map[string]func() trial.Goal{
	"ndr": NDR, "pdr": PDR, "rfc2544": RFC2544Goal, "tst009": TST009Goal,
	"": func() trial.Goal { return trial.Goal{} },
}

func goalSpec(g api.SearchGoal) trial.Goal {
	out := alike[g.Like]()
	out.Name = g.ResultName()
	if final := seconds(g.FinalDuration); final > 0 {
		// A sum that is not given stays as many trials as it was.
		out.DurationSumS *= final / cmp.Or(out.FinalDurationS, final)
		out.InitialDurationS = min(out.InitialDurationS, final)
		out.FinalDurationS = final
	}
	out.DurationSumS = cmp.Or(seconds(g.DurationSum), out.DurationSumS)
	out.InitialDurationS = cmp.Or(seconds(g.InitialDuration), out.InitialDurationS)
	setRatio(&out.LossRatio, g.LossRatio)
	setRatio(&out.ExceedRatio, g.ExceedRatio)
	setRatio(&out.WidthRatio, g.WidthRatio)
	for _, l := range g.Limits {
		out.Limits = append(out.Limits, trial.Limit{Metric: l.Metric, AtMost: l.AtMost, AtLeast: l.AtLeast})
	}
	return out
}

func setRatio(to *float64, given *float64) {
	if given != nil {
		*to = *given
	}
}
