package v1alpha1

import "nfchain.dev/nfchain/api/v1alpha1/internal/nearest"

// minMTUv6 is the smallest link MTU of IPv6 (RFC 8200 §5).
const minMTUv6 = 1280

// anyWiring stands for a wiring that could not be read.
const anyWiring = "*"

// checkChain validates what the decoder cannot see field by field, and empties
// the body of functions that refer to another.
func (c Catalogue) checkChain(s *ChainSpec, at place) []FieldProblem {
	var f findings
	f.add("wiring", unknown(s.Wiring, "wiring", c.wirings().Kinds()))
	f.add("runtime", unknown(s.Runtime, "runtime", c.Runtimes))
	if s.Tenant != "" {
		if err := CheckName(s.Tenant); err != nil {
			f.add("tenant", err.Error())
		}
	}
	f.under("endpoints", checkEndpoints(s.Endpoints, at.under("endpoints")))
	wiring := s.Wiring
	if at.lost("wiring") || c.Wirings[wiring] == nil {
		wiring = anyWiring
	}
	for i := range s.Functions {
		path := item("functions", i)
		f.under(path, c.checkFunction(&s.Functions[i], wiring, at.under(path)))
		f.under(path, checkWeights(s.Functions[i], at.under(path)))
	}
	for i, e := range s.Everywhere {
		path := item("everywhere", i)
		f.under(path, c.checkEverywhere(e, s, at.under(path)))
	}
	f.under("", at.checkOptions())
	f.under("", checkNodeNames(s, at))
	f.under("", checkGroups(s))
	f.under("", checkContainers(s))
	f.under("", checkBrought(s))
	f.under("", checkAfter(s))
	f.under("classifier", c.checkClassifier(s, wiring, at.under("classifier")))
	f.under("", c.checkBranches(s, wiring, at))
	f.under("", c.checkSymmetry(s, wiring, at))
	f.under("addresses", checkAddresses(s.Addresses))
	f.under("tuning", checkTuning(s.Tuning))
	f.under("placement", checkPlacement(s))
	if s.Addresses.IPv6 != None && !at.lost("addresses.ipv6") && s.MTU < minMTUv6 {
		f.addf("mtu", "%d is too small for IPv6; at least %d, or write addresses: {ipv6: none}", s.MTU, minMTUv6)
	}
	return f
}

// checkNodeNames wants every name of a chain to be a name, and only once.
func checkNodeNames(s *ChainSpec, at place) []FieldProblem {
	var f findings
	taken := map[string]string{}
	check := func(path, name string) {
		if err := CheckName(name); err != nil {
			f.add(path+".name", err.Error())
			return
		}
		if first := taken[name]; first != "" {
			f.addf(path+".name", "%s is already the name of %s", quote(name), first)
			return
		}
		taken[name] = path
	}
	if !at.lost("endpoints") {
		for i, e := range s.Endpoints {
			check(item("endpoints", i), e.Name)
		}
	}
	for i, fn := range s.Functions {
		check(item("functions", i), fn.Name)
		for _, name := range fn.NodeNames() {
			if name != fn.Name {
				check(item("functions", i), name)
			}
		}
	}
	return f
}

func (c Catalogue) checkFunction(fn *Function, wiring string, at place) []FieldProblem {
	var f findings
	f.under("", checkOnFailure(*fn, at))
	f.under("", checkMDType(*fn, at))
	if fn.Ref != "" {
		f.under("", checkReference(fn, at))
		return f
	}
	switch {
	case fn.Kind != "":
		f.add("kind", c.unknownKind(fn.Kind))
	case !at.lost("ref"):
		f.addf("kind", "is missing, and so is ref; one of them is needed")
	}
	f.under("", c.checkRest(fn.FunctionBody, wiring, at))
	f.under("", checkInline(fn))
	return f
}

// checkMDType refuses one that nobody would see.
func checkMDType(fn Function, at place) []FieldProblem {
	var f findings
	if at.has("mdType") && fn.Encapsulation == "" {
		f.addf("mdType", "is for a function that gets packets behind such a header; write encapsulation: %s, or leave it out", EncapsulationNSH)
	}
	return f
}

func checkReference(fn *Function, at place) []FieldProblem {
	var f findings
	if err := CheckName(fn.Ref); err != nil {
		f.add("ref", err.Error())
	}
	if fn.Kind != "" {
		f.addf("ref", "is given beside kind; only one of them can be")
	}
	for _, field := range []string{"runtime", "replicas", "direction", "resources", "container"} {
		if at.has(field) {
			f.addf(field, "is said by the %s that ref names; leave it out", KindFunction)
		}
	}
	if fn.Encapsulation != "" {
		f.addf("encapsulation", "is for a function of the chain's own; leave it out, or put the function into the chain")
	}
	fn.FunctionBody = FunctionBody{}
	return f
}

// checkEverywhere validates a function that has no namespace of its own.
func (c Catalogue) checkEverywhere(e Everywhere, s *ChainSpec, at place) []FieldProblem {
	var f findings
	f.add("kind", c.unknownKind(e.Kind))
	for _, field := range []string{"runtime", "replicas", "resources", "container"} {
		if at.has(field) {
			f.addf(field, "is for a function with a namespace of its own; leave it out")
		}
	}
	for i, name := range e.Except {
		f.add(item("except", i), unknown(name, "node of the chain", s.NodeNames()))
	}
	f.under("", at.checkOptions())
	return f
}

// checkBody validates a function that stands alone.
func (c Catalogue) checkBody(b FunctionBody, at place) []FieldProblem {
	var f findings
	f.add("kind", c.unknownKind(b.Kind))
	f.under("", c.checkRest(b, "", at))
	if b.Runtime == RuntimeInline {
		f.addf("runtime", "a function that stands alone has a namespace; put it into the chain to have it inline")
	}
	if IsEngine(b.Runtime) {
		f.addf("runtime", "a function that stands alone has a namespace; put it into the chain to have it in a container")
	}
	if b.Runtime == RuntimeCNI {
		f.addf("runtime", "a function that stands alone has a namespace; put it into the chain to have a container in its place")
	}
	if b.Container != nil {
		f.addf("container", "is for a function of a chain's own; put the function into the chain")
	}
	if b.Resources != nil && b.Resources.CPUTime > 0 {
		f.addf("resources.cpu_time", "is for a container, and a function that stands alone is in a namespace; leave it out")
	}
	f.under("", b.checkProgram())
	if o, is := b.Options.(Following); is {
		if field, nodes := o.Follows(); len(nodes) > 0 {
			f.addf(joinPath(b.Kind, field), "names programs of a chain, and a function that stands alone is in none; leave it out")
		}
	}
	return f
}

// checkRest validates all but the kind; wiring is empty when it stands alone.
func (c Catalogue) checkRest(b FunctionBody, wiring string, at place) []FieldProblem {
	var f findings
	if b.Runtime != "" {
		f.add("runtime", unknown(b.Runtime, "runtime", c.Runtimes))
	}
	f.add("replicas", c.checkReplicas(b.Replicas, wiring))
	if b.Resources != nil && b.Resources.CPUs != "" {
		if _, err := ParseCPUList(b.Resources.CPUs); err != nil {
			f.add("resources.cpus", err.Error())
		}
	}
	if b.Resources != nil && (b.Resources.CPUTime < 0 || b.Resources.CPUTime > maxCPU+1) {
		f.addf("resources.cpu_time", "%g is not a number of CPUs; write one such as 0.5", b.Resources.CPUTime)
	}
	if b.Resources != nil && b.Resources.HugepageSize > 0 {
		switch size := b.Resources.HugepageSize; {
		case b.Resources.Hugepages == 0:
			f.addf("resources.hugepage_size", "says the size of hugepages, and hugepages is missing; write how much of them the function needs, such as hugepages: %s", size)
		case size&(size-1) != 0:
			f.addf("resources.hugepage_size", "%s is no size that hugepages have; write one such as 2MiB or 1GiB", size)
		}
	}
	f.under("", at.checkOptions())
	return f
}

func (c Catalogue) unknownKind(kind string) string {
	kinds := c.union().Kinds()
	if kind == "" {
		return "is missing" + nearest.Hint("", kinds)
	}
	return unknown(kind, "function kind", kinds)
}
