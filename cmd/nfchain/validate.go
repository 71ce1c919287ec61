package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/words"
)

// validation is what validate prints as JSON.
type validation struct {
	SchemaVersion int           `json:"schema_version"`
	Files         []validFile   `json:"files"`
	Problems      []api.Problem `json:"problems"`
}

// validFile is a file with nothing wrong in it, and how much it declares.
type validFile struct {
	File        string `json:"file"`
	Chains      int    `json:"chains"`
	Functions   int    `json:"functions"`
	Experiments int    `json:"experiments"`
}

func (a *app) validateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "validate FILE...", Short: "Check files and print everything wrong with them",
		Long:    "Check files and print everything wrong with them, also what a plan of their chains refuses.\nThe machine is not asked: what it lacks, `nfchain plan` and `nfchain doctor` tell.",
		Example: "  nfchain validate examples/edge-chain.yaml\n  nfchain validate examples/edge-chain.yaml -o json",
		Args:    cobra.MinimumNArgs(1),
	}
	var o *string
	cmd.RunE = does(func(_ *cobra.Command, args []string) error {
		v, err := a.validate(args)
		if err != nil {
			return err
		}
		if *o == "json" {
			err = a.printJSON(v)
		} else {
			for _, f := range v.Files {
				a.printf("%s: %s, %s, %s, nothing wrong\n", f.File, words.Plural(f.Chains, "chain"), words.Plural(f.Functions, "function"), words.Plural(f.Experiments, "experiment"))
			}
		}
		if err == nil && len(v.Problems) > 0 {
			err = api.Problems(v.Problems)
		}
		return err
	})
	o = outputFlag(cmd, "text", "json")
	return cmd
}

// validate reads files and gathers what is wrong with each.
func (a *app) validate(names []string) (validation, error) {
	v := validation{SchemaVersion: 1, Files: []validFile{}, Problems: []api.Problem{}}
	for _, name := range names {
		f, text, err := a.file(name)
		var problems api.Problems
		if errors.As(err, &problems) {
			v.Problems = append(v.Problems, problems...)
			continue
		}
		if err != nil {
			return v, err
		}
		if unplanned := unplanned(name, text, f); len(unplanned) > 0 {
			v.Problems = append(v.Problems, unplanned...)
			continue
		}
		v.Files = append(v.Files, validFile{name, len(f.Chains), len(f.Functions), len(f.Experiments)})
	}
	return v, nil
}

// unplanned is what a plan refuses of a file's chains and functions on any machine: it is
// made as for one that has everything, and on which nothing is up. A chain through a function
// that is not in the file is left to `up`, which knows it.
func unplanned(filename string, text []byte, f *api.File) (problems []api.Problem) {
	wrong := func(kind, name string, err error) {
		if err != nil {
			path, why := fieldOf(strings.TrimPrefix(err.Error(), "chain "+name+": "))
			problems = append(problems, registry.Words().Wrong(filename, text, kind, name, path, why))
		}
	}
	catalogue, among := registry.Plan(), map[string]api.FunctionBody{}
	for _, alone := range f.Functions {
		among[alone.Metadata.Name] = alone.Spec
		_, err := plan.MakeFunction(alone, catalogue, nil)
		wrong(api.KindFunction, alone.Metadata.Name, err)
	}
	for _, c := range f.Chains {
		if slices.ContainsFunc(c.Spec.Functions, func(fn api.Function) bool { return fn.Ref != "" && among[fn.Ref].Kind == "" }) {
			continue
		}
		_, err := plan.Make(c, catalogue, plan.Facts{Functions: among}, plan.Options{})
		wrong(api.KindChain, c.Metadata.Name, err)
	}
	return problems
}

// fieldOf a refusal is that which it begins with, if it does.
func fieldOf(text string) (path, why string) {
	if field, rest, is := strings.Cut(text, ": "); is && strings.HasPrefix(field, "spec.") {
		return field, rest
	}
	return "spec", text
}
