package report

import (
	"slices"
	"strings"

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
	for _, f := range varying(conditions) {
		if slices.Contains(without, f.name) {
			continue
		}
		if f.name == "path" || !implied(f, conditions) {
			l.fields = append(l.fields, f)
		}
	}
	return l
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
		if value, has := c.Factors[name]; has { // cells need not have the same factors
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
