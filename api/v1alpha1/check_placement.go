package v1alpha1

// The memory nodes that are no number.
const (
	NUMASame      = "same"
	NUMADifferent = "different"
)

// checkPlacement refuses what a chain says twice. That no memory node is chosen is one
// thing, whether it is said or not.
func checkPlacement(s *ChainSpec) []FieldProblem {
	var f findings
	if s.Placement.NUMA == None {
		s.Placement.NUMA = ""
	}
	if !s.Placement.Softirqs.Any() && s.Tuning.RPS != "" {
		f.addf("softirqs", "tuning.rps says the same; leave one of them out")
	}
	n := s.Placement.NUMA
	if _, number := numberIn(n); n != "" && n != NUMASame && n != NUMADifferent && !number {
		f.addf("numa", "%s is no choice of memory nodes; write none, same, different, or the number of one", quote(n))
	}
	return f
}
