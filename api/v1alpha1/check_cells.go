package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// mostTried is how many combinations of values are tried while a file is read.
const mostTried = 10_000

// dimension is one of the lists that a sweep crosses, as far as its values go into
// the template.
type dimension struct {
	options []option
	// field is where all options' field stands; empty for cells.
	field string
}

// option is one of a dimension's values, or one cell.
type option struct {
	place    string
	settings []Setting
	// fits tells that some combination takes it; problem is why another did not.
	fits    bool
	problem string
}

// checkCombinations reads the chain and the load with every combination of values that
// go by path. A value that no combination takes is wrong; a combination that is refused
// is left to whoever measures, who lists it.
func (c Catalogue) checkCombinations(swept sweep) []FieldProblem {
	dims := swept.dimensions()
	if len(dims) == 0 {
		return nil
	}
	t, err := c.template(swept)
	if err != nil {
		return []FieldProblem{{"sweep", err.Error()}}
	}
	chosen := make([]*option, len(dims))
	tried, taken := 0, 0
	var first []FieldProblem
	var visit func(i int)
	visit = func(i int) {
		switch {
		case tried > mostTried:
		case i < len(dims):
			for j := range dims[i].options {
				chosen[i] = &dims[i].options[j]
				visit(i + 1)
			}
		default:
			tried++
			problems := t.try(chosen)
			if len(problems) == 0 {
				taken++
			} else if first == nil {
				first = problems
			}
		}
	}
	visit(0)
	if tried > mostTried {
		return nil // too many to be measured, which is said elsewhere
	}
	return complaints(dims, taken, first)
}

// complaints about values that no combination takes; if there is none and yet nothing
// could be taken, about the first combination.
func complaints(dims []dimension, taken int, first []FieldProblem) []FieldProblem {
	var f findings
	for _, d := range dims {
		bad := slices.DeleteFunc(slices.Clone(d.options), func(o option) bool { return o.fits })
		alike := d.field != "" && len(bad) == len(d.options) &&
			!slices.ContainsFunc(bad, func(o option) bool { return o.problem != bad[0].problem })
		if alike {
			f.add(d.field, bad[0].problem)
			continue
		}
		for _, o := range bad {
			f.add(o.place, o.problem)
		}
	}
	if len(f) == 0 && taken == 0 && len(first) > 0 {
		f.add(dims[0].options[0].place, "no combination of values can be had; the first because of "+first[0].Path+": "+first[0].Message)
	}
	return f
}

// dimensions of a sweep with values that go into a template, if all could be read.
func (s sweep) dimensions() (dims []dimension) {
	cells := dimension{}
	any := false
	for i, cell := range s.spec.Cells {
		o := option{place: item("cells", i)}
		for _, field := range slices.Sorted(maps.Keys(cell)) {
			if InTemplate(field) {
				o.settings = append(o.settings, Setting{field, cell[field]})
			}
		}
		any = any || len(o.settings) > 0
		if len(o.settings) == 1 {
			o.place = strict.Join(o.place, o.settings[0].Field)
		}
		cells.options = append(cells.options, o)
	}
	if any {
		dims = append(dims, cells)
	}
	for i, fac := range s.spec.Sweep {
		if !InTemplate(fac.Field) {
			continue
		}
		d := dimension{field: item("sweep", i) + ".field"}
		for j, v := range fac.Values {
			d.options = append(d.options, option{place: item(item("sweep", i)+".values", j), settings: []Setting{{fac.Field, v}}})
		}
		dims = append(dims, d)
	}
	return dims
}

// try a combination and note for each of its options whether it was taken.
func (t *Template) try(chosen []*option) []FieldProblem {
	var all []Setting
	for _, o := range chosen {
		all = append(all, o.settings...)
	}
	_, places, problems := t.fill(all)
	for _, o := range chosen {
		mine := places[:len(o.settings)]
		places = places[len(o.settings):]
		i := slices.IndexFunc(problems, func(p FieldProblem) bool { return concerns(p, o.settings, mine) })
		if i < 0 {
			o.fits = true
		} else if o.problem == "" {
			o.problem = problems[i].Path + ": " + problems[i].Message
		}
	}
	return problems
}

// concerns tells whether a problem is at one of the places, in what is below it, or in
// what leads to it.
func concerns(p FieldProblem, settings []Setting, places []string) bool {
	for i, at := range places {
		if p.Path == pathOf(settings[i].Field) || at != "" && (within(p.Path, at) || within(at, p.Path)) {
			return true
		}
	}
	return false
}

// within tells whether a path is another or leads on from it.
func within(path, from string) bool {
	rest, is := strings.CutPrefix(path, from)
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
