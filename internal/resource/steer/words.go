package steer

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/words"
)

// Words implements resource.Worded: where packets go on, each rule, path, way and replica by itself.
func (s Spec) Words() (lines []string) {
	if s.To != "" {
		lines = append(lines, "to "+s.To)
	}
	if s.Paths != nil {
		lines = append(lines, s.Paths.words()...)
	}
	if s.Branch != nil {
		lines = append(lines, s.Branch.words()...)
	}
	for _, a := range s.amongAll() {
		lines = append(lines, a.words()...)
	}
	return append(lines, "at "+s.Hook)
}

// amongAll are the functions with replicas, whichever program of the port leads to them.
func (s Spec) amongAll() (all []Among) {
	if s.Paths != nil {
		all = append(all, s.Paths.Among...)
	}
	if s.Branch != nil {
		all = append(all, s.Branch.Among...)
	}
	if s.Among != nil {
		all = append(all, *s.Among)
	}
	return all
}

func (a Among) words() (lines []string) {
	for _, r := range a.Replicas {
		lines = append(lines, fmt.Sprintf("replica %d of %s: to %s, weight %d", r.Number, a.Of, r.Port, r.Weight))
	}
	return append(lines, remembers(a.Of+": ", a.Flows, a.Idle))
}

// remembers says of how many flows something is known, and for how long.
func remembers(of string, flows uint32, idle api.Duration) string {
	return fmt.Sprintf("%s%s known at once, idle after %v", of, words.Plural(int(flows), "flow"), idle)
}

func (p Paths) words() (lines []string) {
	if p.Choice != nil {
		lines = append(lines, p.Choice.words()...)
	} else {
		lines = append(lines, p.habits()...)
	}
	for _, w := range p.Ways {
		to := w.Port
		switch {
		case w.Of != "":
			to = "the replicas of " + w.Of
		case w.Behind:
			to = behindText
		}
		lines = append(lines, fmt.Sprintf("path %s: to %s", pathText(w.Path), to))
	}
	return append(lines, remembers("", p.Flows, p.Idle))
}

// habits are what becomes of flows between functions that no path leads on.
func (p Paths) habits() (lines []string) {
	lines = append(lines, "flows that are on no path that leads on: "+pathText(p.Usual))
	if p.Other != nil {
		lines = append(lines, "packets without a flow: "+pathText(*p.Other))
	}
	for _, of := range []struct {
		is   bool
		text string
	}{{p.Learns, "the function before translates addresses"}, {p.Opens, "the function before opens flows"}, {p.Headed, "headers say the path"}} {
		if of.is {
			lines = append(lines, of.text)
		}
	}
	return lines
}

func (c Choice) words() (lines []string) {
	for _, r := range c.Rules {
		lines = append(lines, fmt.Sprintf("rule %s: %s: %s", r.Name, r, pathText(r.Path)))
	}
	if c.Drop {
		return append(lines, "otherwise: drop")
	}
	return append(lines, "otherwise: "+pathText(c.Otherwise))
}

// pathText is a path for a person, by the functions that it goes by.
func pathText(path string) string {
	if path == "" {
		return "direct"
	}
	return strings.ReplaceAll(path, " ", " → ")
}

func (b *Branch) words() (lines []string) {
	by := "labels"
	if b.Back {
		by = "flows"
	}
	lines = append(lines, fmt.Sprintf("from %s by %s, %s known at once", b.Node, by, words.Plural(int(b.Flows), "flow")))
	for _, w := range b.Ways {
		line := "way to " + w.Node
		if w.Port != "" {
			line += ": to " + w.Port
		}
		if w.Joint {
			line += ", where others lead too"
		}
		lines = append(lines, line)
	}
	return lines
}
