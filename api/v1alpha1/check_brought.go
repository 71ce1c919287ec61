package v1alpha1

// Brought are the names of the endpoints and functions in whose places other runtimes put containers.
func (s *ChainSpec) Brought() (names []string) {
	for _, e := range s.Endpoints {
		if e.Runtime == RuntimeCNI {
			names = append(names, e.Name)
		}
	}
	for _, fn := range s.Functions {
		if s.runtimeOf(fn) == RuntimeCNI {
			names = append(names, fn.Name)
		}
	}
	return names
}

// checkBrought refuses what nfchain cannot do to a container that is not its own.
func checkBrought(s *ChainSpec) []FieldProblem {
	var f findings
	for i, e := range s.Endpoints {
		path := item("endpoints", i)
		if e.Runtime != RuntimeCNI {
			continue
		}
		if e.Namespace != "" {
			f.addf(path+".namespace", "an endpoint with runtime: %s is in the namespace that its container brings; leave one of them out", RuntimeCNI)
		}
		if e.Interface != "" {
			f.addf(path+".interface", "an endpoint with runtime: %s is its container; leave one of them out", RuntimeCNI)
		}
		for kind := range e.Options {
			f.addf(joinPath(path, kind), "an endpoint with runtime: %s runs what its container does; leave it out", RuntimeCNI)
		}
	}
	for i, fn := range s.Functions {
		path := item("functions", i)
		if s.runtimeOf(fn) != RuntimeCNI {
			continue
		}
		refuse := func(field, why string) {
			f.addf(path+"."+field, "a function with runtime: %s is the one container that another runtime puts there%s; leave one of them out", RuntimeCNI, why)
		}
		if fn.Group != "" {
			refuse("group", ", and shares its namespace with none")
		}
		if fn.Replicas > 1 {
			refuse("replicas", "")
		}
		if fn.Encapsulation != "" {
			refuse("encapsulation", ", and gets packets without a header")
		}
		if fn.OnFailure != "" {
			refuse("onFailure", ", and is not watched")
		}
		if fn.Resources != nil {
			refuse("resources", ", which bounds it")
		}
	}
	return f
}
