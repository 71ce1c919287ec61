package v1alpha1

import (
	"maps"
	"slices"
)

// Renamed is the chain with other names for some of its functions, wherever it has them.
func (s ChainSpec) Renamed(names map[string]string) ChainSpec {
	if len(names) == 0 {
		return s
	}
	called := map[string][]string{}
	for was, is := range names {
		called[was] = []string{is}
	}
	one := func(name string) string {
		if is, other := names[name]; other {
			return is
		}
		return name
	}
	all := func(was []string) []string {
		if was == nil {
			return nil
		}
		is := make([]string, len(was))
		for i, name := range was {
			is[i] = one(name)
		}
		return is
	}
	s.Endpoints = slices.Clone(s.Endpoints)
	for i, e := range s.Endpoints {
		s.Endpoints[i].Options = maps.Clone(e.Options)
		for kind, o := range e.Options {
			s.Endpoints[i].Options[kind] = Followed(o, called)
		}
	}
	s.Functions = slices.Clone(s.Functions)
	for i, f := range s.Functions {
		f.Name, f.Next, f.Branches, f.Options = one(f.Name), one(f.Next), slices.Clone(f.Branches), Followed(f.Options, called)
		for j, b := range f.Branches {
			f.Branches[j].To = one(b.To)
		}
		s.Functions[i] = f
	}
	if s.Classifier != nil {
		c := *s.Classifier
		c.Rules = slices.Clone(c.Rules)
		for i, r := range c.Rules {
			c.Rules[i].Functions = all(r.Functions)
		}
		s.Classifier = &c
	}
	s.Everywhere = slices.Clone(s.Everywhere)
	for i, e := range s.Everywhere {
		s.Everywhere[i].Except = all(e.Except)
	}
	return s
}

// Followed are options, of a program that waits for others under the names that these are called by now.
func Followed(options any, called map[string][]string) any {
	o, is := options.(Following)
	if !is {
		return options
	}
	var nodes []string
	_, was := o.Follows()
	for _, name := range was {
		others, other := called[name]
		if !other {
			others = []string{name}
		}
		nodes = append(nodes, others...)
	}
	if slices.Equal(nodes, was) {
		return options
	}
	return o.Following(nodes)
}
