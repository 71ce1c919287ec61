package v1alpha1

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// factor is where a swept field stands in the file, and its values in their
// own types, nil where one is wrong.
type factor struct {
	index  int
	values []any
}

// sweep is the factors of an experiment by field. A field that cannot be swept
// is in it without values, since it has been complained of.
type sweep struct {
	factors map[string]*factor
	// partial if not every factor could be read.
	partial bool
}

// checkSweep brings the values of every factor to their types, in place.
func checkSweep(factors []Factor, at place) (sweep, []FieldProblem) {
	var f findings
	swept := sweep{map[string]*factor{}, at.lost("sweep")}
	for i, fac := range factors {
		path := item("", i)
		swept.partial = swept.partial || at.lost("sweep"+path+".field") || at.lost("sweep"+path+".values")
		switch {
		case swept.factors[fac.Field] != nil:
			f.addf(path+".field", "%s is already a factor", quote(fac.Field))
		case valueTypes[fac.Field] == nil:
			swept.factors[fac.Field] = &factor{index: i}
		default:
			swept.factors[fac.Field] = &factor{i, fac.Values}
			f.under(path+".values", checkValues(fac))
		}
	}
	return swept, f
}

func checkValues(fac Factor) []FieldProblem {
	var f findings
	if len(fac.Values) == 0 {
		f.addf("", "has no values")
	}
	for j, v := range fac.Values {
		typed, err := valueTypes[fac.Field](v)
		if err != nil {
			f.add(item("", j), err.Error())
		} else if slices.Contains(fac.Values[:j], typed) {
			f.addf(item("", j), "%v is already among the values", typed)
		}
		fac.Values[j] = typed
	}
	return f
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
		if valueTypes[field] == nil {
			continue
		}
		typed, err := valueTypes[field](at[field])
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
	"payload_size": checkPayload, "request_size": checkMessage, "response_size": checkMessage,
}

func (s sweep) checkPayloads(l Load) []FieldProblem {
	var f findings
	for field, check := range sizeChecks {
		fac := s.factors[field]
		if fac == nil {
			continue
		}
		for j, v := range fac.values {
			if size, ok := v.(int); ok {
				f.add(item(item("", fac.index)+".values", j), check(Size(size), s.on(l).Protocols))
			}
		}
	}
	return f
}
