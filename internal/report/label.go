package report

import (
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// labeller names conditions by what sets them apart within one run.
type labeller struct {
	fields []field
	extra  []string
}

// labels names conditions by protocol and by the fields in which they differ,
// less those left out and those that path and protocol already tell.
func labels(conditions []trial.Summary, without ...string) labeller {
	l := labeller{extra: extraFactors(conditions)}
	l.extra = slices.DeleteFunc(l.extra, func(name string) bool { return slices.Contains(without, name) })
	for _, f := range fields {
		if !slices.Contains(without, f.name) && slices.ContainsFunc(byLoad(conditions), f.tellsApart) {
			l.fields = append(l.fields, f)
		}
	}
	return l
}

// byLoad are the source's conditions and those at the calibrated load: that a field differs
// between the two is what calibrated says.
func byLoad(conditions []trial.Summary) [][]trial.Summary {
	calibrated := func(c trial.Summary) bool { return experiment.AnyCalibrated([]trial.Condition{c.Condition}) }
	source := slices.DeleteFunc(slices.Clone(conditions), calibrated)
	return [][]trial.Summary{source, slices.DeleteFunc(slices.Clone(conditions), func(c trial.Summary) bool { return !calibrated(c) })}
}

// tellsApart tells whether a field names conditions apart.
func (f field) tellsApart(conditions []trial.Summary) bool {
	return varies(f, conditions) && (f.name == "path" || !implied(f, conditions))
}

// of is "TCP, 8 flows, zerocopy".
func (l labeller) of(c trial.Condition) string {
	words := []string{protocolWords(c)}
	for _, f := range l.fields {
		if f.name == "protocol" {
			continue
		}
		words = append(words, f.words(c))
	}
	for _, name := range l.extra {
		if value, has := c.Factors[name]; has && name == experiment.CalibratedFactor {
			words = append(words, name)
		} else if has { // cells need not have the same factors
			words = append(words, l.factor(name)+" "+factorText(value))
		}
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

// factor is how a swept factor is called: by the end of its path, where that is enough.
func (l labeller) factor(name string) string {
	return strings.ReplaceAll(shortest(name, l.extra), "_", " ")
}

// shortest is the end of a factor's path, or all of it where another's ends alike.
func shortest(name string, all []string) string {
	same := func(other string) bool { return other != name && shortFactor(other) == shortFactor(name) }
	if slices.ContainsFunc(all, same) {
		return name
	}
	return shortFactor(name)
}

// implied tells whether path and protocol decide a field: each protocol has its
// tool, the direct path its length.
func implied(f field, conditions []trial.Summary) bool {
	seen := map[[2]string]string{}
	for _, c := range conditions {
		key := [2]string{c.Path, c.Protocol}
		if was, known := seen[key]; known && was != f.text(c.Condition) {
			return false
		}
		seen[key] = f.text(c.Condition)
	}
	return true
}
