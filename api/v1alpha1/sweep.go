package v1alpha1

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// factor is the values of a swept field in their own types, nil where one is
// wrong, where each stands in the experiment's spec, and the cell that it stands in; nil in the sweep.
type factor struct {
	values []any
	places []string
	cells  []map[string]any
}

// sweep is the factors of an experiment by field, of its sweep and of its cells. A
// field that cannot be swept is in it without a type, since it has been complained of.
type sweep struct {
	spec    *ExperimentSpec
	factors map[string]*factor
	// partial if not every factor could be read.
	partial bool
}

// checkSweep brings the values of every factor to their types, in place. Paths are
// the spec's.
func checkSweep(s *ExperimentSpec, at place) (sweep, []FieldProblem) {
	swept := sweep{s, map[string]*factor{}, at.lost("sweep") || at.lost("cells")}
	f := swept.checkCells(at)
	taken := map[string]string{}
	for field := range swept.factors {
		taken[pathOf(field)] = field
	}
	for i, fac := range s.Sweep {
		path := item("sweep", i)
		swept.partial = swept.partial || at.lost(path+".field") || at.lost(path+".values")
		other, twice := taken[pathOf(fac.Field)]
		switch {
		case twice && other == fac.Field:
			f.addf(path+".field", "%s is already a factor", quote(fac.Field))
			continue
		case twice:
			f.addf(path+".field", "is the same as %s, which is already a factor", quote(other))
			continue
		case s.typeOf(fac.Field) == nil:
			f.add(path+".field", s.unknownFactor(fac.Field))
			swept.factors[fac.Field] = &factor{}
		default:
			f.under(path+".values", swept.checkValues(fac, path))
		}
		taken[pathOf(fac.Field)] = fac.Field
	}
	f.add("sweep", lengthTwice(swept.factors))
	return swept, f
}

func (s sweep) checkValues(fac Factor, path string) []FieldProblem {
	var f findings
	if len(fac.Values) == 0 {
		f.addf("", "has no values")
	}
	for j, v := range fac.Values {
		typed, err := s.spec.typeOf(fac.Field)(v)
		if err != nil {
			f.add(item("", j), err.Error())
		} else if slices.Contains(fac.Values[:j], typed) {
			f.addf(item("", j), "%v is already among the values", typed)
		}
		fac.Values[j] = typed
		s.note(fac.Field, typed, item(path+".values", j), nil)
	}
	if len(fac.Values) == 0 {
		s.factors[fac.Field] = &factor{}
	}
	return f
}

// note a value of a field, and where it stands.
func (s sweep) note(field string, v any, place string, cell map[string]any) {
	if s.factors[field] == nil {
		s.factors[field] = &factor{}
	}
	fac := s.factors[field]
	fac.values, fac.places, fac.cells = append(fac.values, v), append(fac.places, place), append(fac.cells, cell)
}

// checkCells brings the values of every cell to their types, in place.
func (s sweep) checkCells(at place) findings {
	var f findings
	for i, cell := range s.spec.Cells {
		path := item("cells", i)
		if len(cell) == 0 && !at.lost(path) {
			f.addf(path, "has no values")
		}
		wrong := s.checkCell(cell, path)
		f = append(f, wrong...)
		// Only values that could be read are sure to be of types that == compares.
		if len(wrong) == 0 && slices.ContainsFunc(s.spec.Cells[:i], func(other map[string]any) bool { return maps.Equal(other, cell) }) {
			f.addf(path, "is already among the cells")
		}
	}
	return f
}

func (s sweep) checkCell(cell map[string]any, path string) findings {
	var f findings
	for _, field := range slices.Sorted(maps.Keys(cell)) {
		here := strict.Join(path, field)
		typeOf := s.spec.typeOf(field)
		if typeOf == nil {
			f.add(here, s.spec.unknownFactor(field))
			s.factors[field] = &factor{}
			continue
		}
		typed, err := typeOf(cell[field])
		if err != nil {
			f.add(here, err.Error())
		}
		cell[field] = typed
		s.note(field, typed, here, cell)
	}
	return f
}

// lengthTwice is the message about factors that both say how many functions there are.
func lengthTwice(factors map[string]*factor) string {
	if factors["length"] == nil {
		return ""
	}
	for _, field := range slices.Sorted(maps.Keys(factors)) {
		if _, copied := CopiedFunction(field); copied || field == FactorCopies {
			return "length and " + field + " both say how many functions there are; leave one out"
		}
	}
	return ""
}

// checkSelector brings the values that select conditions to their types, in
// place, and wants each to be a value that is swept.
func (s sweep) checkSelector(at map[string]any) []FieldProblem {
	var f findings
	for _, field := range slices.Sorted(maps.Keys(at)) {
		path := strict.Join("", field)
		if s.factors[field] == nil && !s.partial {
			f.add(path, unknown(field, "factor of the sweep", slices.Collect(maps.Keys(s.factors))))
			continue
		}
		typeOf := s.spec.typeOf(field)
		if typeOf == nil {
			continue
		}
		typed, err := typeOf(at[field])
		if err != nil {
			f.add(path, err.Error())
		} else if !s.partial && !slices.Contains(s.factors[field].values, typed) {
			f.addf(path, "%v is not among the values of the sweep", typed)
		}
		at[field] = typed
	}
	return f
}

// on is the load with the protocols that are swept, and without the sizes
// that are swept, since each is judged where it stands.
func (s sweep) on(l Load) Load {
	if fac := s.factors["protocol"]; fac != nil {
		var protocols []string
		for _, v := range fac.values {
			if p, ok := v.(string); ok && !slices.Contains(protocols, p) {
				protocols = append(protocols, p)
			}
		}
		replaceList(&l.Protocols, protocols)
	}
	if s.factors["payload_size"] != nil {
		l.PayloadSize = 0
	}
	if s.factors["request_size"] != nil {
		l.RequestSize = 0
	}
	if s.factors["response_size"] != nil {
		l.ResponseSize = 0
	}
	return l
}

// sizeChecks judge the sizes that may be swept.
var sizeChecks = map[string]func(Size, []string) string{
	"payload_size": checkPayload, "request_size": checkMessage, "response_size": checkAnswer,
}

// checkPayloads judges the sizes that are swept. Paths are the spec's.
func (s sweep) checkPayloads(l Load) []FieldProblem {
	var f findings
	for field, check := range sizeChecks {
		fac := s.factors[field]
		if fac == nil {
			continue
		}
		for j, v := range fac.values {
			if size, ok := v.(int); ok {
				f.add(fac.places[j], check(Size(size), s.protocolsOf(fac.cells[j], l)))
			}
		}
	}
	if fac := s.factors["request_rate"]; fac != nil && len(fac.places) > 0 && !slices.ContainsFunc(s.on(l).Protocols, hasRequests) {
		f.add(fac.places[0], onlyRequests)
	}
	return f
}

// protocolsOf a cell: its own, or else those that are swept, or the load's. Values of the sweep, which are in no cell, go with all.
func (s sweep) protocolsOf(cell map[string]any, l Load) []string {
	own, is := cell["protocol"].(string)
	swept := slices.ContainsFunc(s.spec.Sweep, func(f Factor) bool { return f.Field == "protocol" })
	switch {
	case is:
		return []string{own}
	case cell == nil || swept:
		return s.on(l).Protocols
	}
	return l.Protocols
}
