package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/words"
)

func (d IndexData) title() string { return "Published experiments on this machine" }

// verdicts are those of all claims.
func (d IndexData) verdicts() (out []experiment.Verdict) {
	for _, e := range d.Experiments {
		out = append(out, verdictsOf(e)...)
	}
	return out
}

// heading says how much there is, and on what.
func (d IndexData) heading() []string {
	ran, seconds := 0, 0.
	for _, e := range d.Experiments {
		if e.Run != "" {
			ran++
		}
		seconds += e.DurationS
	}
	source, calibrated := apart(d.verdicts())
	lines := []string{fmt.Sprintf("%d of %s ran", ran, words.Plural(len(d.Experiments), "experiment")), words.Plural(len(source), "claim")}
	if n := len(calibrated); n > 0 {
		lines = append(lines, fmt.Sprintf("%d of them at the calibrated load too", n))
	}
	if took := tookText(seconds); took != "" {
		lines = append(lines, "took "+took)
	}
	if n := len(d.Elsewhere); n > 0 {
		lines = append(lines, "beyond one host: "+words.Plural(n, "claim"))
	}
	e := d.Environment
	return append(lines, nonEmpty(e.CPUModel, cpusText(e.CPUs), e.Kernel, e.Virtualization)...)
}

func cpusText(n int) string {
	if n == 0 {
		return ""
	}
	return words.Plural(n, "CPU")
}

// quick says by what the runs of an index are less than their files have; empty where they are not.
func (d IndexData) quick() string {
	var parts []string
	switch {
	case d.Quick:
		parts = append(parts, "Quick runs: shorter and fewer trials than the sources had, so that intervals are wider and more claims stay undecided.")
	case d.Shortened != "":
		parts = append(parts, "Runs shorter than the sources’, so that intervals are wider and more claims stay undecided: "+d.Shortened+".")
	}
	if d.BudgetS > 0 && (d.Quick || d.FullS > d.BudgetS) {
		text := fmt.Sprintf("All of them were to take %s; what was dropped for that is listed below.", tookText(d.BudgetS))
		if d.FullS > d.BudgetS && !d.Quick {
			text = fmt.Sprintf("As the sources have it they take %s. ", tookText(math.Round(d.FullS/60)*60)) + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// machineTable is what was found of this machine before.
func (d IndexData) machineTable() table {
	t := table{Title: "What this machine can show", Caption: "From its calibration: the load that it carries most of, and the smallest difference between two conditions that so many repeats can show."}
	t.column("what", false)
	t.column("value", false)
	c := d.Calibration
	if c == nil {
		return t
	}
	if c.GoodputBps > 0 {
		t.add(true, "most goodput", printed("goodput_bps", c.GoodputBps))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Best)) {
		t.add(false, "with "+strings.ReplaceAll(shortFactor(name), "_", " "), factorText(c.Best[name]))
	}
	for i, f := range c.Floors {
		t.add(i == 0, "smallest difference that "+words.Plural(f.Repeats, "repeat")+" can show", shareText(f.Ratio))
	}
	if c.Run != "" {
		t.add(true, "found by run", c.Run+", "+c.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return t
}

// untoldTable is what this machine could not tell, and why.
func (d IndexData) untoldTable() table {
	t := table{Title: "What this machine could not tell", Caption: "An undecided claim may be decided by more repeats; what is not to be had here takes another machine."}
	t.column("experiment", false)
	t.column("what", false)
	t.column("why", false)
	for _, e := range d.Experiments {
		for i, g := range e.gaps() {
			t.add(i == 0, e.ID, g.what, g.why)
		}
	}
	return t
}

// gaps of an entry: claims, what has no trials, and combinations that are no conditions.
func (e IndexEntry) gaps() (out []gap) {
	if e.Failure != "" {
		out = append(out, gap{"the experiment: " + e.State, e.Failure})
	}
	for _, c := range e.Claims {
		if c.Verdict.Verdict == experiment.CannotBeTold || c.Verdict.Verdict == experiment.Undecided {
			out = append(out, gap{c.ID + ": " + c.Verdict.Verdict, withFloor(c.Reason, c.Floor)})
		}
	}
	if e.Report != nil {
		out = append(out, e.Report.unmeasured()...)
	}
	return append(out, byReason(e.Infeasible)...)
}

// withFloor is a reason with what the noise of this machine adds to it.
func withFloor(reason, floor string) string { return strings.Join(nonEmpty(reason, floor), "; ") }

// droppedTable is what was left out for want of time.
func (d IndexData) droppedTable() table {
	t := table{Title: "What was dropped for want of time", Caption: "Combinations of the sources’ levels that no claim or model needs first; with --budget none they are measured."}
	t.column("experiment", false)
	t.column("combinations", true)
	t.column("which", false)
	t.column("why", false)
	for _, e := range d.Experiments {
		count := map[string]int{}
		for _, c := range e.Dropped {
			count[c.Reason]++
		}
		for i, g := range byReason(e.Dropped) {
			t.add(i == 0, e.ID, fmt.Sprint(count[g.why]), g.what, g.why)
		}
	}
	return t
}

// elsewhereTable is the claims that take more than this host.
func (d IndexData) elsewhereTable() table {
	t := table{Title: "What needs more than this host", Caption: "Statements of the same sources that no run here can confirm or refute."}
	t.column("needs", false)
	t.column("claim", false)
	t.column("at", false)
	t.column("statement", false)
	all := slices.Clone([]Elsewhere(d.Elsewhere))
	slices.SortStableFunc(all, func(a, b Elsewhere) int { return strings.Compare(a.Needs, b.Needs) })
	for i, e := range all {
		text := e.Text
		if e.Note != "" {
			text += " (note: " + e.Note + ")"
		}
		t.add(i == 0 || all[i-1].Needs != e.Needs, e.Needs, e.ID, e.At, text)
	}
	return t
}
