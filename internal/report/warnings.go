package report

import (
	"fmt"
	"regexp"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// warnings are all that a reader must see beside the numbers: the run's own,
// what is missing of it, and the trials' own with how many trials said so.
func (r Report) warnings() (out []string) {
	switch r.Run.State {
	case trial.Running:
		out = append(out, "The run is still going on: these numbers will change.")
	case trial.Interrupted:
		out = append(out, r.interrupted())
	case trial.Failed:
		out = append(out, "The run failed; what it measured before is shown.")
	}
	if missing := r.planned() - r.Run.Finished(); missing > 0 {
		out = append(out, fmt.Sprintf("Missing: %d of %d trials.", missing, r.planned()))
	}
	if r.Run.Quick {
		out = append(out, "This was a quick run: shorter or fewer trials than the experiment asks for.")
	}
	out = append(append(out, r.Run.Warnings...), r.untilWarnings()...)
	out = append(out, r.irregular()...)
	out = append(out, r.driftWarnings()...)
	return append(out, r.trialWarnings()...)
}

// interrupted says what became of the rest of a run, which only an experiment's takes up again.
func (r Report) interrupted() string {
	if r.Run.Experiment == "" {
		return "The run was interrupted; what it measured before is shown."
	}
	if slices.ContainsFunc(r.Run.Command, func(arg string) bool { return arg == "--fresh" || arg == "--fresh=true" }) {
		return "The run was interrupted; the same command without --fresh goes on where it stopped."
	}
	return "The run was interrupted; the same command again goes on where it stopped."
}

// figures in a warning, by which trials differ that say the same.
var figuresIn = regexp.MustCompile(`[0-9][0-9.,]*`)

// alike is a warning without its figures.
func alike(warning string) string { return figuresIn.ReplaceAllString(warning, "#") }

// trialWarnings lists the trials' warnings, each once for every condition, with
// the figures of the first trial that said so.
func (r Report) trialWarnings() (out []string) {
	name := labels(r.Conditions)
	for i, c := range r.Conditions {
		said, trials := map[string]int{}, 0
		var order []string
		for _, t := range r.Run.Trials {
			if t.Condition != i {
				continue
			}
			trials++
			for _, w := range t.Warnings {
				if said[alike(w)] == 0 {
					order = append(order, w)
				}
				said[alike(w)]++
			}
		}
		for _, w := range order {
			out = append(out, fmt.Sprintf("%s: %s (%d of %s)", name.of(c.Condition), w, said[alike(w)], words.Plural(trials, "trial")))
		}
	}
	return out
}

// verdictCounts is "3 holds, 1 does not hold, 1 undecided".
func (r Report) verdictCounts() string { return tallyText(tallied(r.Verdicts)) }
