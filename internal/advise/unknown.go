package advise

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// doubts are what a reader must know of a case beside its verdict, each with the
// choices that it is about.
func (j judge) doubts(c Case) (out []string) {
	about := map[string][]string{}
	note := func(what string, choice Choice) {
		if about[what] == nil {
			out = append(out, what)
		}
		if !slices.Contains(about[what], choice.Name) {
			about[what] = append(about[what], choice.Name)
		}
	}
	for _, choice := range c.Choices {
		for k, f := range choice.Clauses {
			if f.Verdict == Open {
				note(f.Clause+": "+f.Why, choice)
			}
			for _, e := range f.Evidence {
				for _, remark := range j.remarks(j.goal[k], e) {
					note(remark, choice)
				}
			}
		}
	}
	for i, what := range out {
		if len(about[what]) < len(c.Choices) {
			out[i] += " (" + some(about[what]) + ")"
		}
	}
	if slices.ContainsFunc(c.Choices, Choice.apart) {
		out = append(out, "the clauses of the goal were measured in trials of their own, one after another and not at once")
	}
	return out
}

// remarks on evidence, beside its verdict.
func (j judge) remarks(c Clause, e Evidence) (out []string) {
	if loss := e.at.greatest("loss_ratio"); c.AtLeast && e.at.at().Search == nil && loss > j.allowed(e.Condition.Protocol) {
		out = append(out, fmt.Sprintf("%s: some of it was measured by %s with loss, and the goal allows %s", c.Text, e.Condition.Protocol, words.Amount("loss_ratio", j.allowed(e.Condition.Protocol))))
	}
	if c.in(e.Metric, e.Condition) != 1 {
		out = append(out, fmt.Sprintf("%s is %s of %d bytes", c.Text, words.Amount(e.Metric, e.Bound), e.Condition.FrameSize))
	}
	if c.Word == "throughput" && !slices.Contains(searched, e.Metric) {
		out = append(out, c.Text+": no search for a load without loss was run, so "+words.Metric(e.Metric)+" stands for throughput")
	}
	if e.at.generatorLimited() {
		out = append(out, c.Text+": limited by the generator, which could not send all that was asked for")
	}
	return out
}

// apart tells that the clauses of a choice were told by different conditions.
func (c Choice) apart() bool {
	var first string
	for _, f := range c.Clauses {
		for _, e := range f.Evidence {
			key := e.Run + encoded(e.Condition)
			if first == "" {
				first = key
			}
			if key != first {
				return true
			}
		}
	}
	return false
}

// unknown is what the runs do not tell, whatever is asked of them.
func unknown(subjects []Subject, o Options) (out []string) {
	out = append(out, "what was not measured: other wirings, settings, orders and groupings than those named may do better")
	for _, s := range subjects {
		r := s.Run
		if r.Quick {
			out = append(out, "run "+r.ID+" was a quick one, of short and few trials")
		}
		if r.State != trial.Done {
			out = append(out, fmt.Sprintf("run %s is %s, with %s", r.ID, r.State, words.Plural(len(r.Trials), "trial")))
		}
		if n := len(r.Warnings); n > 0 {
			out = append(out, fmt.Sprintf("run %s has %s; nfchain report %s shows them", r.ID, words.Plural(n, "warning"), r.ID))
		}
		for _, cell := range r.Infeasible {
			if experiment.Matches(trial.Condition{Factors: cell.Factors}, o.Where) {
				out = append(out, fmt.Sprintf("%s cannot be had here: %s", experiment.Describe(cell.Factors), cell.Reason))
			}
		}
	}
	return once(out)
}

// once leaves each line at its first place.
func once(lines []string) (out []string) {
	for _, l := range lines {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}
