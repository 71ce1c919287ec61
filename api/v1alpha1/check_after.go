package v1alpha1

import "strings"

// Following are options of a kind whose program may begin when those of others are ready.
type Following interface {
	// Follows gives the nodes whose programs those are, and the field that names them.
	Follows() (field string, nodes []string)
	// Following are the same options with other nodes there.
	Following(nodes []string) any
}

// follower is a node of a chain with a program, and those that this waits for.
type follower struct {
	name, path string
	after      []string
}

// followers of a chain, by their options' paths: its endpoints and functions with programs of the user's.
func (s *ChainSpec) followers() (all []follower) {
	take := func(name, path, kind string, options any) {
		if o, is := options.(Following); is {
			field, nodes := o.Follows()
			all = append(all, follower{name, joinPath(path, joinPath(kind, field)), nodes})
		}
	}
	for i, e := range s.Endpoints {
		for kind, options := range e.Options {
			take(e.Name, item("endpoints", i), kind, options)
		}
	}
	for i, fn := range s.Functions {
		if fn.Ref == "" {
			take(fn.Name, item("functions", i), fn.Kind, fn.Options)
		}
	}
	return all
}

// checkAfter wants programs to wait for programs that there are, and none for itself by way of others.
func checkAfter(s *ChainSpec) []FieldProblem {
	var f findings
	all := s.followers()
	names, waits := []string{}, map[string][]string{}
	for _, p := range all {
		names = append(names, p.name)
		waits[p.name] = p.after
	}
	for _, p := range all {
		for i, name := range p.after {
			path := item(p.path, i)
			if wrong := unknown(name, "node of the chain that runs a program of yours", names); wrong != "" {
				f.add(path, wrong)
				continue
			}
			if round := wayBack(waits, name, p.name, map[string]bool{}); round != nil {
				f.addf(path, "would never begin: %s; leave one of them out", strings.Join(append([]string{p.name}, round...), " waits for "))
			}
		}
	}
	return f
}

// wayBack from a program, by those that it waits for, to another; nil where there is none.
func wayBack(waits map[string][]string, from, to string, seen map[string]bool) []string {
	if from == to {
		return []string{to}
	}
	seen[from] = true
	for _, next := range waits[from] {
		if seen[next] {
			continue
		}
		if way := wayBack(waits, next, to, seen); way != nil {
			return append([]string{from}, way...)
		}
	}
	return nil
}
