package main

import (
	"errors"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
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
		Long:    "Check files and print everything wrong with them, also all that a plan of their chains refuses.\nThe machine is not asked: what it lacks, `nfchain plan` and `nfchain doctor` tell.",
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
				a.printf("%s: %s, %s, %s, nothing wrong\n", f.File, words.Plural(f.Chains, "chain"), words.Plural(f.Functions, "standalone function"), words.Plural(f.Experiments, "experiment"))
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
