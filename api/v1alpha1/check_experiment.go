package v1alpha1

import "slices"

// checkExperiment validates an experiment and gives the values of its factors
// the types that [Factor] promises.
func (c Catalogue) checkExperiment(s *ExperimentSpec, at place) []FieldProblem {
	var f findings
	f.under("chain", c.checkChain(&s.Chain, at.under("chain")))
	f.under("mixes", c.checkMixes(s, at))
	swept, problems := checkSweep(s, at)
	f = append(f, problems...)
	f.under("load", c.CheckLoad(swept.on(s.Load)))
	f.under("load", s.Load.checkNothing(at.under("load")))
	f = append(f, swept.checkPayloads(s.Load)...)
	if len(f) == 0 && !swept.partial && at.sound() {
		f = append(f, c.checkCombinations(swept)...)
	}
	if s.Quick != nil {
		f.under("quick", c.checkQuick(swept.on(s.Load), *s.Quick, at.under("quick")))
	}
	for i, r := range s.Reference {
		f.under(item("reference", i)+".at", swept.checkSelector(r.At))
	}
	f.under("models", swept.checkModels(s.Models, at.under("models")))
	f.under("claims", checkClaims(s, swept, at))
	return f
}

// checkMixes validates the functions of every mix, which stand in the chain's place.
func (c Catalogue) checkMixes(s *ExperimentSpec, at place) []FieldProblem {
	var f findings
	for i, m := range s.Mixes {
		path := item("", i)
		if err := CheckName(m.Name); err != nil {
			f.add(path+".name", err.Error())
		}
		if slices.ContainsFunc(s.Mixes[:i], func(other Mix) bool { return other.Name == m.Name }) {
			f.addf(path+".name", "%s is already the name of a mix", quote(m.Name))
		}
		for j := range m.Functions {
			under := path + item(".functions", j)
			f.under(under, c.checkFunction(&m.Functions[j], anyWiring, at.under("mixes"+under)))
		}
		chain := s.Chain
		chain.Functions = m.Functions
		for j, e := range m.Everywhere {
			under := path + item(".everywhere", j)
			f.under(under, c.checkEverywhere(e, &chain, at.under("mixes"+under)))
		}
	}
	return f
}

func checkClaims(s *ExperimentSpec, swept sweep, at place) []FieldProblem {
	var f findings
	models := modelNames(s.Models, at)
	for i, claim := range s.Claims {
		path := item("", i)
		if slices.ContainsFunc(s.Claims[:i], func(other Claim) bool { return other.ID == claim.ID }) {
			f.addf(path+".id", "%s is already the id of a claim", quote(claim.ID))
		}
		f.under(path+".check", checkCheck(claim.Check, models, swept, at.under(item("claims", i)+".check")))
	}
	return f
}

// modelNames is nil if not every name could be read.
func modelNames(models []Model, at place) []string {
	if at.lost("models") {
		return nil
	}
	names := make([]string, len(models))
	for i, m := range models {
		if at.lost(item("models", i) + ".name") {
			return nil
		}
		names[i] = m.Name
	}
	return names
}
