package v1alpha1

// checkPlacement refuses what a chain says twice.
func checkPlacement(s *ChainSpec) []FieldProblem {
	var f findings
	if !s.Placement.Softirqs.Any() && s.Tuning.RPS != "" {
		f.addf("softirqs", "tuning.rps says the same; leave one of them out")
	}
	return f
}
