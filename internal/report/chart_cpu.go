package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
)

// manyCores is how many cores of one condition are drawn.
const manyCores = 8

// manyBars is how many bars one chart of CPU use holds.
const manyBars = 64

var cpuKinds = []plot.Kind{
	{Name: "user", Colour: 0, Hatch: plot.Full},
	{Name: "system", Colour: 1, Hatch: plot.Rising},
	{Name: "softirq", Colour: 2, Hatch: plot.Points},
	{Name: "steal (taken by the hypervisor)", Colour: 5, Hatch: plot.Falling},
}

// manyCPUGroups is how many conditions have a bar for each core; of more, each has one.
const manyCPUGroups = 12

// cpuFigures has what the cores did under each condition.
func (r Report) cpuFigures() []figure {
	var seen []int
	for i := range r.Conditions {
		if len(r.cores(i)) > 0 {
			seen = append(seen, i)
		}
	}
	if len(seen) > manyCPUGroups {
		return r.machineFigures(seen)
	}
	return r.coreFigures(seen)
}

// machineFigures have one bar for each condition, and conditions by what they have in common.
func (r Report) machineFigures(conditions []int) (out []figure) {
	parts, name := r.parts(conditions)
	var groups []plot.Group
	bars := 0
	flush := func() {
		if len(groups) > 0 {
			f := cpuFigure("CPU use per condition", groups, 0, len(out))
			f.Caption = "Share of the trial's time that the cores spent, mean over cores and trials, and the busiest core's share behind the bar: one core may be full while others wait. JSON has each core. Auxiliary, not a benchmark (RFC 8172 §4.2)."
			out = append(out, f)
		}
		groups, bars = nil, 0
	}
	for _, p := range parts {
		for some := range slices.Chunk(p.conditions, manyBars) {
			if bars+len(some) > manyBars {
				flush()
			}
			g := plot.Group{Name: p.name}
			for _, i := range some {
				g.Bars = append(g.Bars, machineBar(name.of(r.Conditions[i].Condition), r.cores(i)))
			}
			groups, bars = append(groups, g), bars+len(some)
		}
	}
	flush()
	return out
}

// machineBar is the mean over cores, with the busiest of them.
func machineBar(label string, cores []trial.CPUUse) plot.Bar {
	var mean trial.CPUUse
	var most float64
	n := float64(len(cores))
	for _, u := range cores {
		mean.User, mean.System, mean.Softirq, mean.Steal = mean.User+u.User/n, mean.System+u.System/n, mean.Softirq+u.Softirq/n, mean.Steal+u.Steal/n
		most = max(most, u.User+u.System+u.Softirq+u.Steal)
	}
	bar := cpuBar(mean)
	bar.Label, bar.Text = label, fmt.Sprintf("%s, busiest %s%%", bar.Text, fixed(100*most, 0))
	return bar
}

// coreFigures have a bar for each core of each condition.
func (r Report) coreFigures(conditions []int) (out []figure) {
	var groups []plot.Group
	name, hidden, bars := labels(r.Conditions), 0, 0
	flush := func() {
		if len(groups) > 0 {
			out = append(out, cpuFigure("CPU use per core and condition", groups, hidden, len(out)))
		}
		groups, bars = nil, 0
	}
	for _, i := range conditions {
		cores := r.cores(i)
		hidden = max(hidden, len(cores)-manyCores)
		g := plot.Group{Name: name.of(r.Conditions[i].Condition)}
		for _, core := range busiest(cores) {
			g.Bars = append(g.Bars, cpuBar(core))
		}
		if bars+len(g.Bars) > manyBars {
			flush()
		}
		groups, bars = append(groups, g), bars+len(g.Bars)
	}
	flush()
	return out
}

func cpuFigure(title string, groups []plot.Group, hidden, nth int) figure {
	caption := "Share of the trial's time that each core spent, mean over the trials. Auxiliary, not a benchmark (RFC 8172 §4.2)."
	if hidden > 0 {
		caption += fmt.Sprintf(" The %d busiest cores are shown, %d others are not.", manyCores, hidden)
	}
	b := plot.Bars{ID: fmt.Sprintf("cpu-%d", nth), Title: title, Description: cpuDescription(groups),
		X: plot.Axis{Label: "share of time in % (lower is better, for the same traffic)", At: []float64{0, 100}}, Kinds: cpuKinds, Groups: groups}
	return figure{Title: continued("CPU use", nth), Caption: caption, SVG: template.HTML(b.SVG())}
}

func cpuBar(u trial.CPUUse) plot.Bar {
	bar := plot.Bar{Label: fmt.Sprintf("cpu %d", u.CPU), Text: fixed(100*(u.User+u.System+u.Softirq+u.Steal), 0) + "%"}
	for kind, share := range []float64{u.User, u.System, u.Softirq, u.Steal} {
		if kind < 3 || share > .005 {
			bar.Parts = append(bar.Parts, plot.Part{Kind: kind, Value: 100 * share})
		}
	}
	return bar
}

func cpuDescription(groups []plot.Group) (text string) {
	for _, g := range groups {
		text += g.Name + ":"
		for _, b := range g.Bars {
			text += fmt.Sprintf(" %s %s busy,", b.Label, b.Text)
		}
		text = text[:len(text)-1] + ". "
	}
	return text
}

// cores averages each core's use over a condition's trials.
func (r Report) cores(condition int) (out []trial.CPUUse) {
	sums, n := map[int]trial.CPUUse{}, map[int]float64{}
	for _, t := range r.Run.Trials {
		if t.Condition != condition {
			continue
		}
		for _, u := range t.Observed.CPUs {
			s := sums[u.CPU]
			sums[u.CPU] = trial.CPUUse{CPU: u.CPU, User: s.User + u.User, System: s.System + u.System,
				Softirq: s.Softirq + u.Softirq, Steal: s.Steal + u.Steal}
			n[u.CPU]++
		}
	}
	for cpu, s := range sums {
		k := n[cpu]
		out = append(out, trial.CPUUse{CPU: cpu, User: s.User / k, System: s.System / k, Softirq: s.Softirq / k, Steal: s.Steal / k})
	}
	slices.SortFunc(out, func(a, b trial.CPUUse) int { return a.CPU - b.CPU })
	return out
}

// busiest are the cores that did most, in their own order.
func busiest(cores []trial.CPUUse) []trial.CPUUse {
	if len(cores) <= manyCores {
		return cores
	}
	busy := func(u trial.CPUUse) float64 { return u.User + u.System + u.Softirq }
	cores = slices.Clone(cores)
	slices.SortStableFunc(cores, func(a, b trial.CPUUse) int { return cmp.Compare(busy(b), busy(a)) })
	cores = cores[:manyCores]
	slices.SortFunc(cores, func(a, b trial.CPUUse) int { return a.CPU - b.CPU })
	return cores
}
