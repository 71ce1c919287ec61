package v1alpha1

import (
	"fmt"
	"slices"
	"strings"
)

// OneWay tells that what goes from the second endpoint to the first does not visit a function of the chain.
func (s ChainSpec) OneWay(f Function) bool {
	if f.Symmetric != nil {
		return !*f.Symmetric
	}
	return s.Symmetric != nil && !*s.Symmetric
}

// HasOneWay tells whether there is such a function.
func (s ChainSpec) HasOneWay() bool { return slices.ContainsFunc(s.Functions, s.OneWay) }

// saysOneWay is the field that says so of a function, under the chain's.
func (s ChainSpec) saysOneWay(i int) string {
	if s.Functions[i].Symmetric != nil {
		return item("functions", i) + ".symmetric"
	}
	return "symmetric"
}

// mustSee is what is told of a function that needs the answers, and why.
func mustSee(name, why, instead string) string {
	return fmt.Sprintf("%s must see both ways, because %s; %s", name, why, instead)
}

// checkSymmetry wants a wiring that can lead packets past functions on their way back, and no function to miss
// the answers that it needs.
func (c Catalogue) checkSymmetry(s *ChainSpec, wiring string, at place) []FieldProblem {
	var f findings
	if !s.HasOneWay() {
		return nil
	}
	told := map[string]bool{} // once of a field
	if wiring != anyWiring && !slices.Contains(c.Branching, wiring) {
		for i, fn := range s.Functions {
			if path := s.saysOneWay(i); s.OneWay(fn) && !told[path] {
				told[path] = true
				f.addf(path, "over wiring %s packets go back over the links that they came by; use wiring: %s, or leave symmetric out", wiring, strings.Join(c.Branching, " or "))
			}
		}
		return f
	}
	if s.Parts() {
		f.addf(s.saysOneWay(slices.IndexFunc(s.Functions, s.OneWay)), "what goes back goes the way that it came where functions have branches or a next; leave one of the two out")
	}
	for i, fn := range s.Functions {
		if !s.OneWay(fn) {
			continue
		}
		if why := fn.NeedsAnswers(); why != "" && fn.Symmetric != nil {
			f.addf(s.saysOneWay(i), "%s", mustSee(fn.Name, why, "leave this out"))
		} else if why != "" {
			f.addf(item("functions", i)+".kind", "%s", mustSee(fn.Name, why, "give it symmetric: true, or leave that of the chain out"))
		}
		if fn.Direction == Reverse {
			f.addf(item("functions", i)+".direction", "it is for what goes back, which does not visit %s; give it symmetric: true, or leave direction out", fn.Name)
		}
	}
	f.under("", s.checkOneWayGroups())
	f.under("", s.checkOneWayEverywhere(at))
	return f
}

// checkOneWayGroups wants functions that share a namespace to be visited alike.
func (s ChainSpec) checkOneWayGroups() []FieldProblem {
	var f findings
	for i, fn := range s.Functions {
		if i == 0 || fn.Group == "" || s.Functions[i-1].Group != fn.Group || s.OneWay(s.Functions[i-1]) == s.OneWay(fn) {
			continue
		}
		one, other := fn.Name, s.Functions[i-1].Name
		if s.OneWay(fn) {
			one, other = other, one
		}
		f.addf(item("functions", i)+".group", "what goes back visits %s and not %s, which share the namespace of group %s; say the same symmetric of both", one, other, fn.Group)
	}
	return f
}

// checkOneWayEverywhere wants what is in every namespace, and needs answers, to be where these come by.
func (s ChainSpec) checkOneWayEverywhere(at place) []FieldProblem {
	var f findings
	for i, e := range s.Everywhere {
		path := item("everywhere", i)
		why := e.NeedsAnswers()
		if why == "" || at.lost(path) {
			continue
		}
		var missed []string
		for _, seat := range s.Seats() {
			if s.OneWay(seat.Functions[0]) && !slices.Contains(e.Except, seat.Name) {
				missed = append(missed, seat.Name)
			}
		}
		if len(missed) > 0 {
			f.addf(path+".kind", "%s", mustSee("it", why, "write except: ["+strings.Join(missed, ", ")+"], which what goes back does not visit"))
		}
	}
	return f
}

// checkSymmetry of a path: what a rule says of it must be what its functions can do.
func (r PathRule) checkSymmetry(s *ChainSpec) []FieldProblem {
	var f findings
	for _, fn := range s.Functions {
		if r.Symmetric == nil || !slices.Contains(r.Functions, fn.Name) {
			continue
		}
		switch why := fn.NeedsAnswers(); {
		case *r.Symmetric && s.OneWay(fn):
			f.addf("symmetric", "what goes back does not visit %s on any path; give the function symmetric: true, or leave this out", fn.Name)
		case !*r.Symmetric && why != "":
			f.addf("symmetric", "%s", mustSee(fn.Name, why, "leave this out, or take "+fn.Name+" out of the path"))
		case !*r.Symmetric && fn.Direction == Reverse:
			f.addf("symmetric", "%s is for what goes back, which would not visit it; leave this out, or take %s out of the path", fn.Name, fn.Name)
		}
	}
	return f
}
