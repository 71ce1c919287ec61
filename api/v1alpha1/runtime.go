package v1alpha1

// The runtimes that mean something to a file.
const (
	// RuntimeNetns is a network namespace, the function's own or its group's.
	RuntimeNetns = "netns"
	// RuntimeInline is no namespace: packets take the function's step on their way from one to the next.
	RuntimeInline = "inline"
	// RuntimeAuto is inline where wiring, kind and machine can, and else a namespace; for a function that says what its
	// container is, the engine that answers.
	RuntimeAuto = "auto"
	// RuntimeCNI is a container that another runtime puts in the node's place, through nfchain as its CNI plugin.
	RuntimeCNI = "cni"
)

// checkInline refuses what only a namespace has.
func checkInline(fn *Function) []FieldProblem {
	var f findings
	if fn.Runtime != RuntimeInline {
		return nil
	}
	if fn.Group != "" {
		f.addf("group", "functions of a group share a namespace, and one that is inline has none; leave one of them out")
	}
	if fn.Encapsulation != "" {
		f.addf("encapsulation", "a function that is inline has no interface where packets could come with a header; leave one of them out")
	}
	if fn.Resources != nil {
		f.addf("resources", "a function that is inline has no process that they could bound; leave one of them out")
	}
	return f
}
