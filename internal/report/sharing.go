package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// From where a machine is told to be shared: less is what any machine has.
const (
	stolen = .005
	taken  = .01
)

// sharing says in a sentence what lies under this machine and who else used it.
func (r Report) sharing() string {
	e := r.Run.Environment
	var is []string
	switch {
	case e.Virtualization != "":
		is = append(is, "virtualised ("+e.Virtualization+")")
	case e.CPUModel != "":
		is = append(is, "not virtualised as far as it tells")
	}
	if e.Container != "" {
		is = append(is, "seen from a container ("+e.Container+")")
	}
	during := meanLoad(r.Run.Trials)
	shared, why := sharedText(during)
	if shared {
		is = append(is, "shared")
	}
	if len(is) == 0 {
		is = append(is, "not described")
	}
	return "this machine is " + enumeration(is) + ": " + why
}

// sharedText tells whether others used the machine during the trials, and how much.
func sharedText(l *trial.Load) (shared bool, why string) {
	if l == nil || l.Steal == nil && l.Others == nil {
		return false, "how much others used it was not measured"
	}
	var parts []string
	if l.Steal != nil {
		shared = *l.Steal >= stolen
		parts = append(parts, "steal was "+percentText(*l.Steal))
	}
	if l.Others == nil {
		return shared, strings.Join(append(parts, "what other programs took was not measured"), ", ")
	}
	shared = shared || *l.Others >= taken
	text := "other programs took " + percentText(*l.Others) + " of its CPU time"
	if len(l.Largest) > 0 && *l.Others >= taken {
		text += fmt.Sprintf(" (most: %s, %s)", l.Largest[0].Command, percentText(l.Largest[0].Ratio))
	}
	return shared, strings.Join(append(parts, text), ", ")
}

// percentText is a share with two digits: 3%, 0.25%.
func percentText(share float64) string {
	if share >= .995 {
		return strconv.FormatFloat(100*share, 'f', 0, 64) + "%"
	}
	return words.Significant(100*share, 2) + "%"
}

// enumeration is "a, b and c".
func enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// meanLoad is the load during all trials, each with the weight of its time; nil
// where none tells of it. Steal is told by the cores too, in runs of before.
func meanLoad(trials []trial.Trial) *trial.Load {
	var busy, steal, others weighted
	pressure := map[string]*[2]weighted{}
	programs := map[string]*weighted{}
	for _, t := range trials {
		steal.addCores(t.Observed.CPUs, t.DurationS)
		l := t.Observed.Load
		if l == nil {
			continue
		}
		busy.add(l.Busy, l.OverS)
		others.add(l.Others, l.OverS)
		for _, p := range l.Largest {
			at(programs, p.Command).add(&p.Ratio, l.OverS)
		}
		for what, p := range l.Pressure {
			both := at(pressure, what)
			both[0].add(p.Some, l.OverS)
			both[1].add(p.Full, l.OverS)
		}
	}
	if busy.weight+steal.weight+others.weight == 0 {
		return nil
	}
	m := &trial.Load{OverS: max(busy.weight, steal.weight), Busy: busy.mean(), Steal: steal.mean(), Others: others.mean()}
	for command, w := range programs {
		m.Largest = append(m.Largest, trial.OtherUse{Command: command, Ratio: w.sum / others.weight})
	}
	slices.SortFunc(m.Largest, func(a, b trial.OtherUse) int {
		if a.Ratio != b.Ratio {
			return map[bool]int{true: -1, false: 1}[a.Ratio > b.Ratio]
		}
		return strings.Compare(a.Command, b.Command)
	})
	for what, both := range pressure {
		if m.Pressure == nil {
			m.Pressure = map[string]trial.Pressure{}
		}
		m.Pressure[what] = trial.Pressure{Some: both[0].mean(), Full: both[1].mean()}
	}
	return m
}

// at is the value of a name, made where it is new.
func at[T any](m map[string]*T, name string) *T {
	if m[name] == nil {
		m[name] = new(T)
	}
	return m[name]
}

// weighted sums what is known.
type weighted struct{ sum, weight float64 }

func (w *weighted) add(v *float64, weight float64) {
	if v != nil && weight > 0 {
		w.sum += *v * weight
		w.weight += weight
	}
}

// addCores adds the mean steal of the cores.
func (w *weighted) addCores(cores []trial.CPUUse, weight float64) {
	if len(cores) == 0 {
		return
	}
	var mean float64
	for _, c := range cores {
		mean += c.Steal / float64(len(cores))
	}
	w.add(&mean, weight)
}

func (w weighted) mean() *float64 {
	if w.weight == 0 {
		return nil
	}
	m := w.sum / w.weight
	return &m
}

// load adds how busy the machine was.
func (t *rows) load(what string, l *trial.Load) {
	if l == nil {
		return
	}
	var parts []string
	share := func(name string, v *float64) {
		if v != nil {
			parts = append(parts, name+" "+percentText(*v))
		}
	}
	share("busy", l.Busy)
	share("steal", l.Steal)
	share("other programs", l.Others)
	for _, p := range l.Largest[:min(3, len(l.Largest))] {
		share(p.Command, &p.Ratio)
	}
	if a := l.Average; a != nil {
		parts = append(parts, fmt.Sprintf("load average %.2f %.2f %.2f", a[0], a[1], a[2]))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Pressure)) {
		share("some work waited for "+name, l.Pressure[name].Some)
		share("all work did", l.Pressure[name].Full)
	}
	t.say(what, strings.Join(parts, ", "))
}
