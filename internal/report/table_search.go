package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/search"
	"nfchain.dev/nfchain/internal/words"
)

// goalsTable has a row for each goal of each search.
func (r Report) goalsTable() table {
	t := table{Title: "What the searches found", Caption: "The load in frames per second and direction. The lower bound is the highest load that met the goal below all that did not; the conditional throughput is the forwarding rate there (MLRsearch §4.7). " +
		"Confidence: that the critical load lies between the bounds, if trials are independent."}
	for _, head := range []string{"condition", "repeat", "method", "goal"} {
		t.column(head, head == "repeat")
	}
	for _, head := range []string{"lower bound", "upper bound", "conditional throughput", "confidence", "trials", "traffic"} {
		t.column(head, true)
	}
	t.column("note", false)
	name := labels(r.Conditions)
	for _, s := range r.Searches {
		for i, g := range s.Goals {
			t.add(i == 0, name.of(r.Conditions[s.Condition].Condition), strconv.Itoa(s.Repeat), s.Search.Method, g.Goal.Name,
				ppsCell(g.LowerPps), ppsCell(g.UpperPps), ppsCell(g.ConditionalPps), confidenceCell(g),
				strconv.Itoa(s.Trials), fixed(s.TrafficS, 1)+" s", goalNote(s, g))
		}
	}
	return t
}

func ppsCell(pps *float64) string {
	if pps == nil {
		return "–"
	}
	return printed("load_pps", *pps)
}

func confidenceCell(g search.GoalResult) string {
	if g.Confidence == nil {
		return "–"
	}
	return shareText(*g.Confidence)
}

// goalNote is what must be read beside a goal's bounds.
func goalNote(s Search, g search.GoalResult) string {
	note := ""
	add := func(when bool, text string) {
		if when && text != "" {
			if note != "" {
				note += "; "
			}
			note += text
		}
	}
	add(!g.Regular && s.Exempt == "", "irregular: "+g.Why)
	add(!s.Finished, "not finished")
	add(s.Exempt != "", s.Exempt)
	add(g.GeneratorLimited, "the upper bound is the generator's: not all of it was sent")
	add(g.LossInversion, "a higher load met the goal")
	return note
}

// measuredTable has what searches measure at a load that they found.
func (r Report) measuredTable() table {
	t := table{Title: "Measured at the loads found"}
	for _, head := range []string{"condition", "repeat", "what"} {
		t.column(head, head == "repeat")
	}
	for _, head := range []string{"load", "n", "mean", "min", "max", "deviation"} {
		t.column(head, true)
	}
	name := labels(r.Conditions)
	for _, s := range r.Searches {
		about := []string{name.of(r.Conditions[s.Condition].Condition), strconv.Itoa(s.Repeat)}
		for _, q := range []*search.Repeated{s.Latency, s.Recovery} {
			if q != nil {
				t.add(true, append(slices.Clip(about), append([]string{words.Metric(q.Metric), printed("load_pps", q.LoadPps), strconv.Itoa(len(q.Values))}, spreadCells(q.Metric, q.Spread)...)...)...)
			}
		}
		if b := s.BackToBack; b != nil {
			t.add(true, append(slices.Clip(about), append([]string{"longest burst in frames", "–", strconv.Itoa(len(b.Lengths))}, spreadCells("frames", b.Frames)...)...)...)
		}
		if f := s.Forwarding; f != nil {
			t.add(true, append(slices.Clip(about), "FRMOL", printed("load_pps", f.FRMOLOfferedPps), "1", printed("load_pps", f.FRMOLPps), "–", "–", "–")...)
			t.add(false, append(slices.Clip(about), "MFR", printed("load_pps", f.MFROfferedPps), "1", printed("load_pps", f.MFRPps), "–", "–", "–")...)
		}
	}
	return t
}

func spreadCells(metric string, s search.Spread) (cells []string) {
	for _, v := range []*float64{s.Mean, s.Min, s.Max, s.Deviation} {
		if v == nil {
			cells = append(cells, "–")
		} else {
			cells = append(cells, printed(metric, *v))
		}
	}
	return cells
}

// clausesTable says what of the standards was kept. Searches that say the same of a
// clause share its row.
func (r Report) clausesTable() table {
	t := table{Title: "Compliance", Caption: "Each clause that applies, in our words, and whether the searches kept it."}
	for _, head := range []string{"standard", "§", "clause", "status", "why"} {
		t.column(head, false)
	}
	var seen []search.Clause
	last := ""
	for _, s := range r.Searches {
		for _, c := range s.Compliance {
			if slices.Contains(seen, c) {
				continue
			}
			seen = append(seen, c)
			t.add(c.Standard != last, c.Standard, c.Section, c.Text, c.Status, c.Why)
			last = c.Standard
		}
	}
	return t
}

// irregular are warnings of the searches that found less than they were to.
func (r Report) irregular() (out []string) {
	for _, s := range r.Searches {
		add := func(when bool, format string, args ...any) {
			if when {
				out = append(out, r.which(s)+": "+fmt.Sprintf(format, args...))
			}
		}
		add(s.Irregular, "the search is irregular: %s", s.Why)
		add(s.Exempt != "", "nothing to measure: %s", s.Exempt)
		if reached := s.Reached; reached != nil {
			add(reached.HighestPps < reached.CeilingPps, "of the %s that the generator can send by itself, about %s could be sent through the chain, where the search began",
				printed("load_pps", reached.CeilingPps), printed("load_pps", reached.HighestPps))
		}
		if unsent := unsentLoads(s); len(unsent) > 0 {
			add(true, "not all was sent of %s: what is missing counts as lost", strings.Join(unsent, ", "))
		}
	}
	return append(out, r.generatorLimited()...)
}

// which search it is.
func (r Report) which(s Search) string {
	return fmt.Sprintf("%s, repeat %d", labels(r.Conditions).of(r.Conditions[s.Condition].Condition), s.Repeat)
}

// unsentLoads are those that the generator never sent whole, the highest first, of a
// search that has no goals to say so.
func unsentLoads(s Search) (out []string) {
	if len(s.Goals) > 0 {
		return nil
	}
	for _, p := range slices.Backward(s.Loads) {
		if p.UnsentRatio > 0 {
			out = append(out, fmt.Sprintf("%s (%s missing)", printed("load_pps", p.LoadPps), shareText(p.UnsentRatio)))
		}
	}
	return out
}

// generatorLimited are warnings of bounds that say nothing of the chain.
func (r Report) generatorLimited() (out []string) {
	for _, s := range r.Searches {
		for _, g := range s.Goals {
			if g.GeneratorLimited {
				out = append(out, fmt.Sprintf("%s, goal %s: limited by the generator: the upper bound missed the goal because not all of it was sent",
					r.which(s), g.Goal.Name))
			}
		}
	}
	return out
}
