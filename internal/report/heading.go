package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// heading says in a few lines what run this is.
func (r Report) heading() []string {
	run := r.Run
	lines := []string{fmt.Sprintf("run %s of %s, %s, %s", run.ID, r.what(), run.State, run.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"))}
	if r.Source != nil {
		lines = append(lines, "source: "+r.sourceText())
	}
	lines = append(lines, r.opening()...)
	if made := r.wirings(); made != "" {
		lines = append(lines, made)
	}
	if r.Against != nil {
		lines = append(lines, "baseline: "+r.against())
	}
	if len(r.Verdicts) > 0 {
		lines = append(lines, "claims: "+r.verdictCounts())
	}
	return lines
}

// what is run: a chain or an experiment on one.
func (r Report) what() string {
	if r.Run.Experiment != "" {
		return "experiment " + r.Run.Experiment
	}
	return "chain " + r.Run.Chain
}

// opening says how much was measured, where the time went and who else was there.
func (r Report) opening() []string {
	lines := []string{r.extent()}
	if u := r.Run.TimeUse(); u != nil {
		lines = append(lines, timeText(*u))
	}
	return append(lines, r.sharing())
}

// extent says how much was measured.
func (r Report) extent() string {
	run := r.Run
	conditions := len(run.Conditions)
	each := words.Plural(r.most(), "repeat")
	if run.Until == 0 && run.Asked() < conditions*r.most() {
		each = "at most " + each
	}
	text := fmt.Sprintf("%s × %s, %d of %d trials, seed %d",
		words.Plural(conditions, "condition"), each, run.Finished(), r.planned(), run.Seed)
	if n, _ := run.Failed(); n > 0 {
		text += fmt.Sprintf(", %d of them failed", n)
	}
	if run.Until > 0 {
		text += fmt.Sprintf(", until intervals are %s wide (%d repeats at most)", shareText(run.Until), run.MaxRepeats)
	}
	if n := len(run.Infeasible); n > 0 {
		text += fmt.Sprintf(", %s infeasible", words.Plural(n, "combination"))
	}
	if run.Redeploy > 1 {
		text += fmt.Sprintf(", over %d instances of the chain", cmp.Or(max(instancesMade(run), instancesBegun(run)), run.Redeploy))
	}
	if run.Quick {
		text += ", quick"
	}
	return text
}

// timeText says where the time went.
func timeText(u trial.TimeUse) string {
	return fmt.Sprintf("time: %.1f s, %.1f%% of it between trials, %.1f%% in their tools' starting and ending", u.WholeS, 100*u.Outside, 100*(u.Unloaded-u.Outside))
}

// wirings says what the wirings of the run chose; nothing where they leave no choice.
func (r Report) wirings() string {
	var all []string
	for _, s := range r.Run.Setups {
		var words []string
		for _, name := range slices.Sorted(maps.Keys(s.WiringSettings)) {
			words = append(words, name+" "+s.WiringSettings[name])
		}
		if text := s.Wiring + " (" + strings.Join(words, ", ") + ")"; len(words) > 0 && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "wiring: " + strings.Join(all, "; ")
}

func (r Report) sourceText() string {
	text := fmt.Sprintf("%s, %s", r.Source.ID, r.Source.Title)
	if r.Source.At != "" {
		text += ", " + r.Source.At
	}
	if r.Source.Machine != "" {
		text += " (measured on " + r.Source.Machine + ")"
	}
	return text
}

// footing says where the run is and how to repeat it.
func (r Report) footing() (lines []string) {
	e := r.Run.Environment
	lines = append(lines, "machine: "+strings.Join(nonEmpty(e.CPUModel, words.Plural(e.CPUs, "CPU"), e.Kernel, e.Virtualization, e.Privileges), ", "))
	if len(r.Run.Command) > 0 {
		lines = append(lines, "repeat:  "+words.Shell(r.Run.Command...))
	}
	if r.Place != "" {
		lines = append(lines, "stored:  "+r.Place)
	}
	return lines
}

func nonEmpty(words ...string) (out []string) {
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// instancesBegun are those, of the ones that were planned, on which anything was measured: conditions may have their own.
func instancesBegun(run trial.Run) int {
	begun := map[int]bool{}
	for _, t := range run.Trials {
		begun[(t.Repeat-1)/experiment.RepeatsEach(run)] = true
	}
	return len(begun)
}

// instancesMade of the chain of a condition, the most of any: with an interval to reach
// there may be more than the run began with.
func instancesMade(run trial.Run) (most int) {
	made := map[int]map[int]bool{}
	for _, t := range run.Trials {
		if made[t.Condition] == nil {
			made[t.Condition] = map[int]bool{}
		}
		made[t.Condition][t.Instance] = true
		most = max(most, len(made[t.Condition]))
	}
	return most
}
