package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/registry"
)

// placed is an error with its place in the files, where it is what a plan refuses of what they hold.
func (a *app) placed(err error, files ...string) error {
	if err == nil {
		return nil
	}
	for _, name := range files {
		if name == "-" {
			continue // it was read
		}
		f, text, unread := a.file(name)
		if unread != nil {
			continue
		}
		problems := unplanned(name, text, f)
		if slices.ContainsFunc(problems, func(p api.Problem) bool { return strings.Contains(err.Error(), p.Message) }) {
			return problems
		}
	}
	return err
}

// manyCPUs are more than chains place their work on, on two memory nodes.
const manyCPUs = 1024

// plannedBy are the facts by which a file's chains are planned for any machine: one that has everything, and on which nothing
// is up.
func plannedBy(f *api.File) plan.Facts {
	among, cpus := map[string]api.FunctionBody{}, make([]int, manyCPUs)
	for i := range cpus {
		cpus[i] = i
	}
	for _, alone := range f.Functions {
		among[alone.Metadata.Name] = alone.Spec
	}
	return plan.Facts{Functions: among, CPUs: cpus, MemoryNodes: map[int][]int{0: cpus[:manyCPUs/2], 1: cpus[manyCPUs/2:]}}
}

// unplanned is what a plan refuses of a file's chains and functions on any machine. A chain through a function
// that is not in the file is left to `up`, which knows it.
func unplanned(filename string, text []byte, f *api.File) (problems api.Problems) {
	catalogue, facts := registry.Plan(), plannedBy(f)
	for _, alone := range f.Functions {
		name := alone.Metadata.Name
		_, err := plan.MakeFunction(alone, catalogue, plan.Facts{})
		for _, refusal := range plan.Refusals(err) {
			path, why := "spec", refusal.Error()
			if field, rest, is := fieldOf(strings.TrimPrefix(why, "function "+name+": ")); is {
				path, why = field, rest
			}
			problems = append(problems, registry.Words().Wrong(filename, text, api.KindFunction, name, path, why))
		}
	}
	for _, c := range f.Chains {
		if throughOthers(c, facts) {
			continue
		}
		_, err := plan.Make(c, catalogue, facts, plan.Options{})
		if feature.NotHere(err) {
			c.Spec.Placement = api.Placement{} // the machine's CPUs are no matter of the file; what comes after them is
			_, err = plan.Make(c, catalogue, facts, plan.Options{})
		}
		problems = append(problems, refusedOf(c, err, filename, text)...)
	}
	problems.Sort()
	return problems
}

// throughOthers tells whether a chain goes through a standalone function that is not in its file.
func throughOthers(c api.Chain, facts plan.Facts) bool {
	return slices.ContainsFunc(c.Spec.Functions, func(fn api.Function) bool { return fn.Ref != "" && facts.Functions[fn.Ref].Kind == "" })
}

// refusedOf a chain is what a plan of it refuses that does not lie in the machine, with its place in the file.
func refusedOf(c api.Chain, err error, filename string, text []byte) (problems api.Problems) {
	for _, refusal := range plan.Refusals(err) {
		if feature.NotHere(refusal) {
			continue
		}
		path, why := placeOf(strings.TrimPrefix(refusal.Error(), "chain "+c.Metadata.Name+": "), c.Spec)
		problems = append(problems, registry.Words().Wrong(filename, text, api.KindChain, c.Metadata.Name, path, why))
	}
	return problems
}

// besides what is wrong in a file's words there is what its chains' wirings and kinds of functions cannot do, where these are
// known, of fields with which nothing else is wrong.
func besides(filename string, text []byte, err error) error {
	var problems api.Problems
	if !errors.As(err, &problems) || slices.ContainsFunc(problems, ofTheWhole) {
		return err
	}
	f := registry.Words().Taken(filename, text)
	catalogue, facts, all := registry.Plan(), plannedBy(f), slices.Clone(problems)
	for _, c := range f.Chains {
		if throughOthers(c, facts) {
			continue
		}
		var wrong []string
		for _, p := range problems {
			wrong = append(wrong, p.Path)
		}
		for i, fn := range c.Spec.Functions {
			if fn.Ref == "" && catalogue.Functions[fn.Kind] == nil {
				wrong = append(wrong, fmt.Sprintf("spec.functions[%d]", i))
			}
		}
		for _, p := range refusedOf(c, plan.Unfit(c, catalogue, facts), filename, text) {
			if !slices.ContainsFunc(wrong, func(path string) bool { return concerns(path, p.Path) }) {
				all = append(all, p)
			}
		}
	}
	all.Sort()
	return all
}

// ofTheWhole of a document, or of what all of it may depend on, is what is not of a list or of options.
func ofTheWhole(p api.Problem) bool {
	return !strings.HasPrefix(p.Path, "spec.") || !strings.Contains(p.Path, "[") && strings.Count(p.Path, ".") < 2
}

// concerns tells whether what is wrong with a field may be why another is: one of them holds the other.
func concerns(field, other string) bool {
	return strings.HasPrefix(other+".", field+".") || strings.HasPrefix(field+".", other+".")
}

// placeOf a refusal is the field of a chain that it begins with, or that of the function.
func placeOf(text string, spec api.ChainSpec) (path, why string) {
	if field, rest, is := fieldOf(text); is {
		return field, rest
	}
	about, is := strings.CutPrefix(inGroup.ReplaceAllString(text, ""), "function ")
	if !is {
		return "spec", text
	}
	name := about[:len(about)-len(strings.TrimLeft(about, letters))]
	i := slices.IndexFunc(spec.Functions, func(f api.Function) bool { return f.Name == name })
	if i < 0 {
		return "spec", text
	}
	path = fmt.Sprintf("spec.functions[%d]", i)
	if rest, is := strings.CutPrefix(about[len(name):], ": "); is {
		if field, why, is := fieldOf(rest); is {
			return path + strings.TrimPrefix(field, "spec"), why
		}
		return path, rest
	}
	return path, text
}

// inGroup is what comes before the function that cannot be in a group.
var inGroup = regexp.MustCompile(`^group [a-z0-9-]+: `)

// letters are those of names.
const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// aField of a file, below spec.
var aField = regexp.MustCompile(`^(?:spec\.)?([a-zA-Z][a-zA-Z0-9_]*(?:\[[0-9]+\])?(?:\.[a-zA-Z0-9_\[\]]+)*): `)

// fieldOf a refusal is that which it begins with, if it does.
func fieldOf(text string) (path, why string, is bool) {
	found := aField.FindStringSubmatch(text)
	if found == nil {
		return "", text, false
	}
	return "spec." + found[1], text[len(found[0]):], true
}
