package v1alpha1

import (
	"fmt"
	"slices"
	"strings"
)

// checkBranches wants what packets are sent on by to be a mark each, and where they go to be
// behind the function, by a wiring that can.
func (c Catalogue) checkBranches(s *ChainSpec, wiring string, at place) []FieldProblem {
	var f findings
	if !s.Parts() {
		return nil
	}
	if s.Classifier != nil {
		f.under("classifier", s.checkPathsBeside())
	}
	for i, fn := range s.Functions {
		path := item("functions", i)
		if fn.Parts() {
			f.under(path, c.checkParting(s, i, wiring, at.under(path)))
		}
	}
	if len(f) == 0 && at.sound() {
		f.under("", s.checkReached())
	}
	return f
}

// checkPathsBeside refuses what paths of a classifier cannot be beside branches: one of all functions, in the chain's order, goes as
// these lead, and others past them.
func (s *ChainSpec) checkPathsBeside() []FieldProblem {
	var f findings
	for i, r := range s.Classifier.Rules {
		path := item("rules", i)
		if s.Whole(r.Functions) {
			if r.OneWay() {
				f.addf(path+".symmetric", "packets on this path go as branches lead, and answers back by the way of their flow; leave it out, or leave a function out of the path")
			}
			continue
		}
		for n, name := range r.Functions {
			which := slices.IndexFunc(s.Functions, func(fn Function) bool { return fn.Name == name })
			if which < 0 {
				continue
			}
			switch fn := s.Functions[which]; {
			case fn.Replicas > 1:
				f.addf(path+item(".functions", n), "%s has replicas, and a path of its own cannot lead to these where functions of the chain have branches or a next; leave %s out of the path, or its replicas out, or write all functions in the chain's order, which leads as branches do", name, name)
			case fn.OnFailure != "":
				f.addf(path+item(".functions", n), "%s has onFailure, and packets on a path of its own cannot be led past it where functions of the chain have branches or a next; leave %s out of the path, or its onFailure out, or write all functions in the chain's order, which leads as branches do", name, name)
			}
		}
	}
	return f
}

// checkParting validates where a function says that packets go on.
func (c Catalogue) checkParting(s *ChainSpec, i int, wiring string, at place) []FieldProblem {
	var f findings
	fn := s.Functions[i]
	field := "branches"
	if len(fn.Branches) == 0 {
		field = "next"
	}
	switch {
	case wiring != anyWiring && !slices.Contains(c.Branching, wiring):
		f.addf(field, "wiring %s sends what leaves a function to the one after it; use wiring: %s, or leave %s out", wiring, strings.Join(c.Branching, " or "), field)
	case fn.Group != "":
		f.addf(field, "functions of group %s share a namespace, which packets leave as one; leave one of the two out", fn.Group)
	case s.runtimeOf(fn) == RuntimeInline && len(fn.Branches) > 0:
		f.addf(field, "a function that is inline has no namespace that packets leave with a mark; say it of the function before it, or give this one runtime: %s", RuntimeNetns)
	}
	if len(fn.Branches) > MostBranches {
		f.addf("branches", "%d are more than a function can have, %d", len(fn.Branches), MostBranches)
	}
	if fn.Next != "" {
		f.add("next", s.onward(i, fn.Next))
	}
	for n, b := range fn.Branches {
		path := item("branches", n)
		f.under(path, b.check(at.under(path)))
		f.add(path+".to", s.onward(i, b.To))
		if first := slices.IndexFunc(fn.Branches[:n], func(o Branch) bool { return o.covers(b) }); first >= 0 && !at.lost(path+".mark") {
			f.addf(path+".mark", "no packet is left for it: branches[%d], %s, comes first and has them all", first, fn.Branches[first])
		}
	}
	return f
}

func (s *ChainSpec) runtimeOf(fn Function) string {
	if fn.Runtime != "" || fn.Ref != "" {
		return fn.Runtime
	}
	return s.Runtime
}

// check a branch by itself.
func (b Branch) check(at place) []FieldProblem {
	var f findings
	switch {
	case at.lost("mark") || at.lost("mask"):
	case at.has("mask") && b.Mask == 0:
		f.addf("mask", "has no bits, so that any packet would do; say where all go with next, or leave mask out for all bits")
	case b.Mark&^b.Bits() != 0:
		f.addf("mark", "%s has bits that the mask, %s, does not have; no packet would match", b.Mark, b.Mask)
	}
	return f
}

// onward says why packets cannot go on from a function to what is called so, or "".
func (s *ChainSpec) onward(from int, to string) string {
	fn := s.Functions[from]
	var behind []string
	for i, other := range s.Functions {
		switch {
		case other.Group != "" && other.Name == to:
			return fmt.Sprintf("%s is in group %s, whose functions are passed together; write %s", quote(to), other.Group, other.Group)
		case other.Name == to && i <= from, other.Group == to && other.Group != "" && i < from:
			return fmt.Sprintf("%s is not behind %s; packets go on to functions after it, or to %s", quote(to), fn.Name, s.last())
		case i <= from:
		case other.Group == "":
			behind = append(behind, other.Name)
		case !slices.Contains(behind, other.Group):
			behind = append(behind, other.Group)
		}
	}
	if len(s.Endpoints) > 0 && to == s.Endpoints[0].Name {
		return fmt.Sprintf("%s is where packets come from; they go on to functions after %s, or to %s", quote(to), fn.Name, s.last())
	}
	return unknown(to, "function after this one, or the second endpoint", append(behind, s.last()))
}

// last is the name of the second endpoint.
func (s *ChainSpec) last() string {
	if len(s.Endpoints) < 2 {
		return ""
	}
	return s.Endpoints[1].Name
}

// checkReached wants packets to get to each function.
func (s *ChainSpec) checkReached() []FieldProblem {
	var f findings
	seats := s.Seats()
	place, reached := map[string]int{}, make([]bool, len(seats)+1)
	at := func(name string) int { // the second endpoint is behind all
		if i, is := place[name]; is {
			return i
		}
		return len(seats)
	}
	for i, seat := range seats {
		place[seat.Name] = i
	}
	reached[0] = true
	for i, seat := range seats {
		fn := seat.Functions[0]
		if !reached[i] {
			which := slices.IndexFunc(s.Functions, func(o Function) bool { return o.Name == fn.Name })
			f.addf(item("functions", which)+".name", "no packet gets to %s: what is before it goes on elsewhere; have a branch or a next of a function before it lead there, or take it out", seat.Name)
		}
		if fn.Next == "" {
			reached[i+1] = true
		} else {
			reached[at(fn.Next)] = true
		}
		for _, b := range fn.Branches {
			reached[at(b.To)] = true
		}
	}
	return f
}
