package advise

import (
	"fmt"
	"slices"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// doubts are what a reader must know of a case beside its verdict.
func (j judge) doubts(c Case) (out []string) {
	for _, choice := range c.Choices {
		for _, f := range choice.Clauses {
			if f.Verdict == Open {
				out = append(out, fmt.Sprintf("%s: %s: %s", choice.Name, f.Clause, f.Why))
			}
			for _, e := range f.Evidence {
				out = append(out, j.remarks(choice, f, e)...)
			}
		}
	}
	if slices.ContainsFunc(c.Choices, Choice.apart) {
		out = append(out, "the clauses of the goal were measured in trials of their own, one after another and not at once")
	}
	return once(out)
}

// remarks on evidence, beside its verdict.
func (j judge) remarks(choice Choice, f Finding, e Evidence) (out []string) {
	i := slices.IndexFunc(choice.cells, func(at cell) bool {
		return at.run.ID == e.Run && encoded(at.at()) == encoded(e.Condition)
	})
	if i < 0 {
		return nil
	}
	at, name := choice.cells[i], choice.Name+": "+f.Clause
	higher := e.Metric == "goodput_bps" || e.Metric == "packet_rate_pps" || e.Metric == "forwarding_rate_pps"
	if loss := at.greatest("loss_ratio"); higher && loss > j.allowed(e.Condition.Protocol) {
		out = append(out, fmt.Sprintf("%s: measured with up to %s of loss by %s", name, amount("loss_ratio", loss), e.Condition.Protocol))
	}
	if f.Clause != "" && e.Metric == "goodput_bps" && j.asksThroughput(f.Clause) {
		out = append(out, name+": no search for a load without loss was run, so goodput stands for throughput")
	}
	if at.generatorLimited() {
		out = append(out, name+": limited by the generator, which could not send all that was asked for")
	}
	return out
}

func (j judge) asksThroughput(text string) bool {
	return slices.ContainsFunc(j.goal, func(c Clause) bool { return c.Text == text && c.Word == "throughput" })
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
