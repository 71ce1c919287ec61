package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
)

const one, two, other, translator, limit, another, unknown = 1, 2, 3, 4, 5, 6, 0

// passes at ports, by the functions in them.
type passes map[string][]uint64

func (p passes) met(version string) map[string]plan.Pass {
	all := map[string]plan.Pass{}
	for port, of := range p {
		pass := plan.Pass{Of: of, Together: slices.Contains(of, limit)}
		for _, f := range of {
			pass.EitherWay += fmt.Sprintf("step %d%s, ", f, version)
			if f == translator || f == another {
				pass.Translates, pass.Translators = true, append(pass.Translators, uint64(f))
			}
		}
		pass.Steps = pass.EitherWay
		if strings.HasPrefix(port, "west") && pass.Translates {
			pass.Steps = strings.ReplaceAll(pass.Steps, "step", "answers")
		}
		all[port] = pass
	}
	return all
}

func ports(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, n := range names {
		all[n] = true
	}
	return all
}

// TestAlike: where flows that stay on their path meet inline functions as new ones do. Ports are those of c, a, b and s in a row, of which each leads
// to the next one, and x is put in, or taken out, between a and b. What is called west leads back.
func TestAlike(t *testing.T) {
	few := ports("c", "a", "b", "westA", "westB", "westS")
	many := ports("c", "a", "x", "b", "westA", "westX", "westB", "westS")
	turned := ports("a", "westB")
	for name, c := range map[string]struct {
		was, is       passes
		there, wanted map[string]bool
		nodes         map[uint64]bool
		alike         bool
	}{
		"none":                             {passes{}, passes{}, few, many, nil, true},
		"put in elsewhere":                 {passes{}, passes{"c": {one}, "westA": {one}}, few, many, nil, true},
		"taken out elsewhere":              {passes{"c": {one}, "westA": {one}}, passes{}, few, many, nil, true},
		"moved from one side to the other": {passes{"c": {one}, "westA": {one}}, passes{"b": {one}, "westS": {one}}, few, many, nil, true},
		"joined by another":                {passes{"c": {one}, "westA": {one}}, passes{"c": {one, two}, "westA": {two, one}}, few, many, nil, true},
		"put in beside x":                  {passes{}, passes{"x": {one}, "westB": {one}}, few, many, nil, false},
		"put in beside x, one way":         {passes{}, passes{"x": {one}}, few, many, nil, true},
		"before x now":                     {passes{"a": {one}, "westB": {one}}, passes{"a": {one}, "westX": {one}}, few, many, nil, false},
		"behind x now":                     {passes{"a": {one}, "westB": {one}}, passes{"x": {one}, "westB": {one}}, few, many, nil, false},
		"x goes from before it":            {passes{"a": {one}, "westX": {one}}, passes{"a": {one}, "westB": {one}}, many, few, nil, false},
		"x goes from behind it":            {passes{"x": {one}, "westB": {one}}, passes{"a": {one}, "westB": {one}}, many, few, nil, false},
		"goes with x, one way":             {passes{"x": {one}}, passes{}, many, few, nil, true},
		"goes with x":                      {passes{"x": {one}, "westB": {one}}, passes{}, many, few, nil, false},
		"moved from x, one way":            {passes{"x": {one}}, passes{"b": {one}}, many, few, nil, false},
		"moved to x, one way":              {passes{"b": {one}}, passes{"x": {one}}, few, many, nil, false},
		"beside y in the place of x": {passes{"x": {one}, "westB": {one}}, passes{"y": {one}, "westB": {one}}, many,
			ports("c", "a", "y", "b", "westA", "westY", "westB", "westS"), nil, false},
		"a namespace before":           {passes{}, passes{"c": {one}, "westA": {one}}, few, many, map[uint64]bool{one: true}, false},
		"a namespace now":              {passes{"c": {one}, "westA": {one}}, passes{}, few, many, map[uint64]bool{one: true}, false},
		"other namespaces":             {passes{}, passes{"c": {one}, "westA": {one}}, few, many, map[uint64]bool{other: true}, true},
		"beside what nobody knows":     {passes{"b": {unknown}}, passes{"b": {two}, "c": {one}, "westA": {one}}, few, many, nil, false},
		"nobody knows, and none moves": {passes{"x": {unknown}}, passes{}, many, few, nil, true},
	} {
		m := plan.Met{Was: c.was.met(""), Is: c.is.met(""), There: c.there, Wanted: c.wanted, Turned: turned, Nodes: c.nodes}
		if got := m.Alike(); got != c.alike {
			t.Errorf("%s: alike is %v, want %v", name, got, c.alike)
		}
	}
}

// again tells whether a function is met before and after.
func again(was, is passes) bool {
	for _, before := range was {
		for _, after := range is {
			if slices.ContainsFunc(before, func(f uint64) bool { return slices.Contains(after, f) }) {
				return true
			}
		}
	}
	return false
}

// TestBygone: past which ports flows are led that stay, and which passes are one with others from before. Ports are as in TestAlike.
func TestBygone(t *testing.T) {
	few := ports("c", "a", "b", "westA", "westB", "westS")
	many := ports("c", "a", "x", "b", "westA", "westX", "westB", "westS")
	side := func(port string) int {
		if strings.HasPrefix(port, "west") {
			return 2
		}
		return 1
	}
	for name, c := range map[string]struct {
		was, is       passes
		there, wanted map[string]bool
		past, joins   string
		can           bool
	}{
		"put in beside x":         {passes{}, passes{"x": {one}, "westB": {one}}, few, many, "[westB]", "map[]", true},
		"before x now":            {passes{"a": {one}, "westB": {one}}, passes{"a": {one}, "westX": {one}}, few, many, "[westB]", "map[westX:westB]", true},
		"behind x now":            {passes{"a": {one}, "westB": {one}}, passes{"x": {one}, "westB": {one}}, few, many, "[a]", "map[x:a]", true},
		"x goes from before it":   {passes{"x": {one}, "westB": {one}}, passes{"a": {one}, "westB": {one}}, many, few, "[a]", "map[a:x]", true},
		"x goes from behind it":   {passes{"a": {one}, "westX": {one}}, passes{"a": {one}, "westB": {one}}, many, few, "[westB]", "map[westB:westX]", true},
		"parted by x":             {passes{"a": {one, two}, "westB": {two, one}}, passes{"a": {one}, "x": {two}, "westX": {one}, "westB": {two}}, few, many, "[a westB]", "map[]", true},
		"all goes":                {passes{"a": {one}, "westB": {one}}, passes{}, few, many, "[a westB]", "map[]", true},
		"what nobody knows":       {passes{"a": {unknown}}, passes{"a": {one}}, few, many, "[a]", "map[]", false},
		"one that translates":     {passes{"a": {translator}}, passes{"x": {translator}}, few, many, "[a]", "map[]", true},
		"one that is to, begun":   {passes{"a": {translator}}, passes{"a": {translator}, "westB": {translator}}, few, many, "[westB]", "map[]", true},
		"one in another's place":  {passes{"a": {another}}, passes{"a": {translator}, "x": {translator}}, few, many, "[a]", "map[]", true},
		"one that is to":          {passes{}, passes{"a": {translator}, "x": {translator}}, few, many, "[a]", "map[]", false},
		"a limit of all":          {passes{"a": {limit}}, passes{"x": {limit}}, few, many, "[a]", "map[x:a]", true},
		"a limit of all, parted":  {passes{"a": {one, limit}}, passes{"a": {one}, "x": {limit}}, few, many, "[a]", "map[]", false},
		"a limit of all, kept":    {passes{"a": {one, limit}}, passes{"a": {limit}}, few, many, "[a]", "map[]", true},
		"a limit of all, put in":  {passes{"a": {one}}, passes{"a": {one, limit}}, few, many, "[a]", "map[]", true},
		"the same way it was not": {passes{"a": {one}, "westB": {one}}, passes{"westX": {one}}, few, many, "[a westB]", "map[westX:westB]", true},
	} {
		m := plan.Met{Was: c.was.met(""), Is: c.is.met(""), There: c.there, Wanted: c.wanted}
		if _, can := (plan.Met{Was: m.Was, Is: c.is.met(" anew"), There: c.there, Wanted: c.wanted}).Bygone(side); can && again(c.was, c.is) {
			t.Errorf("%s: flows that stay would be held to what a function said before", name)
		}
		// Nor by those that say less than they did, as a mirror's filter may.
		if _, can := (plan.Met{Was: c.was.met(" anew"), Is: m.Is, There: c.there, Wanted: c.wanted}).Bygone(side); can && again(c.was, c.is) {
			t.Errorf("%s: those that say less are met only by new flows", name)
		}
		got, can := m.Bygone(side)
		if can != c.can || can && (fmt.Sprint(got.Ports) != c.past || fmt.Sprint(got.Joins) != c.joins) {
			t.Errorf("%s: past %v, joined %v, %v; want %s, %s, %v", name, got.Ports, got.Joins, can, c.past, c.joins, c.can)
		}
	}
}

// TestBygoneNotes: flows are noted before what translates addresses where it stays at a port that is turned, and nowhere else.
func TestBygoneNotes(t *testing.T) {
	there := ports("c", "a", "b", "westA", "westB", "westS")
	met := passes{"c": {one}, "a": {translator, one}, "westB": {one, translator}, "b": {translator}, "gone": {translator}}.met("")
	is := passes{"c": {one}, "a": {translator, one}, "westB": {one}, "b": {translator}}.met("")
	got, can := plan.Met{Was: met, Is: is, There: there, Wanted: there, Turned: ports("c", "a", "westB", "gone")}.Bygone(func(string) int { return 1 })
	if want := "[westB] [westB] [a]"; !can || fmt.Sprint(got.Ports, got.Translating, got.Noted) != want {
		t.Errorf("%v %+v, want %s", can, got, want)
	}
}

// TestAlikeByTheirSteps: a function that is replaced in its place is met by all alike where ports lead as ever, and not where they are turned; one
// more replica beside it joins the pass that others have.
func TestAlikeByTheirSteps(t *testing.T) {
	there := ports("c", "a", "west1", "b")
	for _, turned := range []bool{false, true} {
		m := plan.Met{Was: passes{"c": {one}, "west1": {one}}.met(""), Is: passes{"c": {one}, "west1": {one}}.met(", others"), There: there, Wanted: there, Turned: map[string]bool{"west1": turned}}
		if m.Alike() == turned {
			t.Errorf("with a port turned being %v, alike is %v", turned, !turned)
		}
	}
	for _, beside := range [][]string{nil, {"west1"}} {
		m := plan.Met{Was: passes{"c": {one}, "west1": {one}}.met(""), Is: passes{"c": {one}, "west1": {one}, "west2": {one}}.met(""), There: there, Wanted: ports("c", "a", "west1", "west2", "b"), Turned: ports("c")}
		joins := m.Is["west2"]
		joins.Beside = beside
		m.Is["west2"] = joins
		if got := m.Alike(); got != (beside != nil) {
			t.Errorf("beside %v: alike is %v", beside, got)
		}
	}
}

// TestMetAside: what flows meet that stay since an earlier edit is none of the ports', and a function that comes again is one with it.
func TestMetAside(t *testing.T) {
	there := ports("c", "a", "b", "westA", "westB")
	side := func(port string) int {
		if strings.HasPrefix(port, "west") {
			return 2
		}
		return 1
	}
	for name, c := range map[string]struct {
		was, is, aside passes
		anew           string
		alike          bool
		past, joins    string
		can            bool
	}{
		"another is put in":      {passes{}, passes{"a": {two}, "westB": {two}}, passes{"was1-out": {one}}, "", true, "", "", false},
		"it is put in again":     {passes{}, passes{"a": {one}}, passes{"was1-out": {one}}, "", false, "[a]", "map[a:was1-out]", true},
		"the other way":          {passes{}, passes{"westB": {one}}, passes{"was1-out": {one}}, "", false, "[westB]", "map[]", true},
		"beside another":         {passes{}, passes{"a": {one, two}}, passes{"was1-out": {one}}, "", false, "[a]", "map[]", true},
		"as another":             {passes{}, passes{"a": {one}}, passes{"was1-out": {one}}, " anew", false, "", "", false},
		"it becomes another":     {passes{"a": {one}}, passes{"a": {one}}, passes{"was1-out": {one}}, " anew", false, "", "", false},
		"it goes":                {passes{"a": {one}}, passes{}, passes{"was1-out": {one}}, "", false, "[a]", "map[]", true},
		"a limit of all again":   {passes{}, passes{"a": {limit}}, passes{"was1-out": {limit}}, "", false, "[a]", "map[a:was1-out]", true},
		"a limit beside another": {passes{}, passes{"a": {limit, one}}, passes{"was1-out": {limit}}, "", false, "", "", false},
		"nobody knows":           {passes{}, passes{"a": {one}}, passes{"was1-out": {unknown}}, "", false, "[a]", "map[]", true},
	} {
		m := plan.Met{Was: c.was.met(""), Is: c.is.met(c.anew), Aside: c.aside.met(""), There: there, Wanted: there}
		if got := m.Alike(); got != c.alike {
			t.Errorf("%s: alike is %v, want %v", name, got, c.alike)
		}
		if c.alike {
			continue
		}
		got, can := m.Bygone(side)
		if can != c.can || can && (fmt.Sprint(got.Ports) != c.past || fmt.Sprint(got.Joins) != c.joins) {
			t.Errorf("%s: past %v, joined %v, %v; want %s, %s, %v", name, got.Ports, got.Joins, can, c.past, c.joins, c.can)
		}
	}
}
