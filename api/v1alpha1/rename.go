package v1alpha1

import "slices"

// Renamed is the chain with other names for some of its functions, wherever packets are led by them. What programs wait for is called as before
// ([Following]): a program that goes on is not to be told another.
func (s ChainSpec) Renamed(names map[string]string) ChainSpec {
	if len(names) == 0 {
		return s
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
	s.Functions = slices.Clone(s.Functions)
	for i, f := range s.Functions {
		f.Name, f.Next, f.Branches = one(f.Name), one(f.Next), slices.Clone(f.Branches)
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
