package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// ForwardKind is the function kind of chains that list no functions of their own.
const ForwardKind = "forward"

// nameLimit is the longest name of a function (RFC 1123 §2.1).
const nameLimit = 63

// ofLength makes the n−2 functions between the ends of a chain of length n. The
// chain's own functions are repeated in turn, each name with its place behind
// it so that no two are alike; a chain with none gets forwarders f1, f2 ...
// Forwarders so made have nil Options, which the caller fills with the kind's
// defaults: this package knows no kinds.
func ofLength(own []api.Function, n int) []api.Function {
	out := make([]api.Function, n-2)
	for i := range out {
		if len(own) == 0 {
			out[i].Name, out[i].Kind = fmt.Sprintf("f%d", i+1), ForwardKind
			continue
		}
		out[i] = own[i%len(own)]
		out[i].Name = numbered(out[i].Name, i+1)
	}
	return out
}

// numbered puts a place behind a name and keeps it a DNS label. The hyphen keeps
// a1 at place 1 apart from a at place 11.
func numbered(name string, place int) string {
	suffix := fmt.Sprintf("-%d", place)
	if over := len(name) + len(suffix) - nameLimit; over > 0 {
		name = strings.TrimRight(name[:len(name)-over], "-")
	}
	return name + suffix
}

// lengthen the chain to n namespaces.
func (p *Point) lengthen(n int) {
	if i := slices.IndexFunc(p.Chain.Functions, func(f api.Function) bool { return f.Group != "" }); i >= 0 {
		p.refuse("length counts namespaces, and functions of the group " + p.Chain.Functions[i].Group + " share one; vary copies instead")
		return
	}
	p.repeat(p.Chain.Functions, ofLength(p.Chain.Functions, n))
}

// repeat some of the chain's functions, which are next to each other: these copies of them in turn are in their place, if no two
// nodes of the chain are called alike then. Who waited for their programs waits for those of all copies.
func (p *Point) repeat(some, copies []api.Function) {
	functions, called := copies, map[string][]string{}
	for _, f := range some {
		called[f.Name] = nil
	}
	if len(some) > 0 {
		at := slices.IndexFunc(p.Chain.Functions, func(f api.Function) bool { return f.Name == some[0].Name })
		functions = slices.Replace(slices.Clone(p.Chain.Functions), at, at+len(some), copies...)
		for i, f := range copies {
			of := some[i%len(some)].Name
			called[of] = append(called[of], f.Name)
		}
		p.lead(functions, copies, len(some), called)
	}
	taken := map[string]bool{}
	for _, e := range p.Chain.Endpoints {
		taken[e.Name] = true
	}
	for _, f := range functions {
		if taken[f.Name] {
			p.refuse("two nodes of the chain would be called " + f.Name + ", since copies have their place behind their name; rename one of them")
			return
		}
		taken[f.Name] = true
	}
	p.Chain.Functions = functions
	p.follow(called)
}

// lead functions and their branches on to copies: those of one turn to others of the same, and of a whole chain to the next turn where they led to its end; the rest to
// the first copy.
func (p *Point) lead(functions, copies []api.Function, each int, called map[string][]string) {
	last := ""
	if n := len(p.Chain.Endpoints); n > 0 && each == len(p.Chain.Functions) {
		last = p.Chain.Endpoints[n-1].Name
	}
	for i := range functions {
		f := &functions[i]
		turn := 0
		if at := slices.IndexFunc(copies, func(c api.Function) bool { return c.Name == f.Name }); at >= 0 {
			turn = at / each
		}
		goal := func(to string) string {
			switch all := called[to]; {
			case len(all) > turn:
				return all[turn]
			case to != "" && to == last && (turn+1)*each < len(copies):
				return copies[(turn+1)*each].Name
			}
			return to
		}
		f.Next, f.Branches = goal(f.Next), slices.Clone(f.Branches)
		for j := range f.Branches {
			f.Branches[j].To = goal(f.Branches[j].To)
		}
	}
}

// follow all copies of what programs waited for, by what those are called now. Options are other points' too.
func (p *Point) follow(called map[string][]string) {
	p.Chain.Endpoints = slices.Clone(p.Chain.Endpoints)
	for i, f := range p.Chain.Functions {
		p.Chain.Functions[i].Options = following(f.Options, called)
	}
	for i, e := range p.Chain.Endpoints {
		options := maps.Clone(e.Options)
		for kind, o := range options {
			options[kind] = following(o, called)
		}
		p.Chain.Endpoints[i].Options = options
	}
}

// following are options, of a program that waits for others under the names that these have now.
func following(options any, called map[string][]string) any {
	o, is := options.(api.Following)
	if !is {
		return options
	}
	var nodes []string
	_, was := o.Follows()
	for _, name := range was {
		copies, copied := called[name]
		if !copied {
			copies = []string{name}
		}
		nodes = append(nodes, copies...)
	}
	if slices.Equal(nodes, was) {
		return options
	}
	return o.Following(nodes)
}

// copyAll repeats the whole list of functions n times.
func (p *Point) copyAll(n int) {
	own := p.Chain.Functions
	switch {
	case len(own) == 0:
		p.refuse("the chain has no functions to copy")
		return
	case len(own)*n > api.MaxLength:
		p.refuse(fmt.Sprintf("%d copies of %d functions are more than %d", n, len(own), api.MaxLength))
		return
	}
	p.repeat(own, ofLength(own, len(own)*n+2))
}

// copyOne puts n copies of one function, side by side, where it is.
func (p *Point) copyOne(name string, v any) error {
	n, err := whole(v, 0, api.MaxLength)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(p.Chain.Functions, func(f api.Function) bool { return f.Name == name })
	switch {
	case at < 0:
		p.refuse("the chain has no function " + name + " to copy")
		return nil
	case len(p.Chain.Functions)+n > api.MaxLength:
		p.refuse(fmt.Sprintf("%d copies of %s make a chain of more than %d", n, name, api.MaxLength))
		return nil
	}
	one := p.Chain.Functions[at : at+1]
	p.repeat(one, ofLength(one, n+2))
	return nil
}
