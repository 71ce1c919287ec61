package search

import (
	"cmp"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// History is the steps of one repeat of a condition, in their order.
func History(run trial.Run, condition, repeat int) []Outcome {
	var steps []trial.Trial
	for _, t := range run.Trials {
		if t.Condition == condition && t.Repeat == repeat && t.Step > 0 && t.Asked != nil {
			steps = append(steps, t)
		}
	}
	slices.SortStableFunc(steps, func(a, b trial.Trial) int { return cmp.Compare(a.Step, b.Step) })
	out := make([]Outcome, len(steps))
	for i, t := range steps {
		out[i] = OutcomeOf(run.Conditions[condition], t)
	}
	return out
}

// OutcomeOf is a trial of a condition as searches see it. One that did not measure its loss lost
// everything, as far as anybody knows.
func OutcomeOf(c trial.Condition, t trial.Trial) Outcome {
	loss, counted := t.Metrics["loss_ratio"]
	if !counted {
		loss = 1
	}
	o := Outcome{LossRatio: loss, OfferedPps: t.Metrics["sent_pps"], ForwardingRatePps: t.Metrics["forwarding_rate_pps"], Metrics: t.Metrics, SentPps: t.Metrics["sent_pps"]}
	if c.Bidirectional { // what was sent is of both together
		o.SentPps /= 2
	}
	if t.Asked != nil {
		o.Step = *t.Asked
		// Where traffic goes both ways, what was sent is of both together; the share is
		// of each.
		if unsent, told := t.Metrics["unsent_ratio"]; told {
			o.OfferedPps = o.LoadPps * (1 - unsent)
		}
	}
	return o
}

// Metrics of a result by name, for summaries over repeats and comparisons. A bound
// of a goal that allows no loss, found by a method that is for that, is the
// throughput (RFC 1242 §3.17).
func (r Result) Metrics() map[string]float64 {
	m := map[string]float64{"search_trials": float64(r.Trials), "search_traffic_s": r.TrafficS}
	put := func(name string, v *float64) {
		if v != nil {
			m[name] = *v
		}
	}
	for _, g := range r.Goals {
		if r.Search.Method != trial.MLRsearch && g.Goal.LossRatio == 0 && len(g.Goal.Limits) == 0 {
			put("throughput_pps", g.LowerPps)
			continue
		}
		put(g.Goal.Name+"_lower_bound_pps", g.LowerPps)
		put(g.Goal.Name+"_conditional_throughput_pps", g.ConditionalPps)
	}
	if r.Latency != nil {
		put(r.Latency.Metric, r.Latency.Mean)
	}
	if r.Recovery != nil {
		put(Recovery, r.Recovery.Mean)
	}
	if r.BackToBack != nil {
		put("back_to_back_frames", r.BackToBack.Frames.Mean)
		put("corrected_buffer_s", r.BackToBack.CorrectedS)
	}
	if f := r.Forwarding; f != nil {
		m["frmol_pps"], m["mfr_pps"] = f.FRMOLPps, f.MFRPps
	}
	return m
}
