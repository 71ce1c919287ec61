package v1alpha1

import (
	"cmp"
	"slices"
)

// Seat is what one namespace of a chain is for: one function, or several of one group.
type Seat struct {
	// Name is the function's or the group's.
	Name      string
	Functions []Function
}

// Grouped tells that it is a group's.
func (s Seat) Grouped() bool { return s.Functions[0].Group != "" }

// Seats are the namespaces between the ends, in path order. A group's functions are
// next to each other.
func (s ChainSpec) Seats() []Seat {
	var all []Seat
	for _, f := range s.Functions {
		if last := len(all) - 1; f.Group != "" && last >= 0 && all[last].Functions[0].Group == f.Group {
			all[last].Functions = append(all[last].Functions, f)
			continue
		}
		all = append(all, Seat{Name: cmp.Or(f.Group, f.Name), Functions: []Function{f}})
	}
	return all
}

// Length is the number of namespaces, both ends included. A function that is inline counts
// as one that has its own.
func (s ChainSpec) Length() int { return len(s.Seats()) + 2 }

// NodeNames are those of all that has, or may have, a namespace of the chain, in path order.
func (s ChainSpec) NodeNames() []string {
	names := make([]string, 0, s.Length())
	for _, e := range s.Endpoints {
		names = append(names, e.Name)
	}
	for _, seat := range s.Seats() {
		names = append(names, seat.Name)
	}
	return names
}

// checkGroups wants groups to have names that nothing else has, and their functions to
// be next to each other.
func checkGroups(s *ChainSpec) []FieldProblem {
	var f findings
	for i, fn := range s.Functions {
		path := item("functions", i) + ".group"
		if fn.Group == "" {
			continue
		}
		if err := CheckName(fn.Group); err != nil {
			f.add(path, err.Error())
			continue
		}
		if fn.OnFailure != "" {
			f.addf(item("functions", i)+".onFailure", "what becomes of packets is one matter for all functions of group %s, and cannot be said of one of them; leave one of the two out", fn.Group)
		}
		if fn.Encapsulation != "" {
			f.addf(item("functions", i)+".encapsulation", "functions of a group are passed in one namespace by the kernel, which reads no such header; leave one of the two out")
		}
		if fn.Replicas > 1 {
			f.addf(path, "replicas have a namespace each; leave one of them out")
		}
		if fn.Ref != "" {
			f.addf(path, "a function that ref names has a namespace of its own; leave one of them out")
		}
		if slices.ContainsFunc(s.Endpoints, func(e Endpoint) bool { return e.Name == fn.Group }) || slices.ContainsFunc(s.Functions, func(o Function) bool { return o.Name == fn.Group }) {
			f.addf(path, "%s is already the name of an endpoint or a function; call the group otherwise", quote(fn.Group))
		}
		if i > 0 && s.Functions[i-1].Group != fn.Group {
			if first := slices.IndexFunc(s.Functions[:i], func(o Function) bool { return o.Group == fn.Group }); first >= 0 {
				f.addf(path, "%s of the same group stands apart, with %s between; put functions of a group next to each other, or name another group",
					s.Functions[first].Name, s.Functions[i-1].Name)
			}
		}
	}
	return f
}
