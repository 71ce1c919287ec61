package main

import (
	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/observe"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	SchemaVersion int               `json:"schema_version"`
	Features      []feature.Feature `json:"features"`
	// Environment is what a run would store of this machine.
	Environment trial.Environment `json:"environment"`
}

func (a *app) doctorCmd() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say what this machine can do, and how to close each gap",
		Example: "  nfchain doctor\n  nfchain doctor -o json", Args: cobra.NoArgs,
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, _ []string) error {
		set := feature.Probe(cmd.Context(), feature.Host())
		all := set.All()
		if *o == "json" {
			e := set.Environment(versionText())
			e.LoadBefore = observe.Load(cmd.Context(), "", runs.LoadOver)
			if err := a.printJSON(diagnosis{1, all, e}); err != nil {
				return err
			}
		} else {
			a.printFeatures(all)
		}
		if strict {
			return set.Missing(names(all)...)
		}
		return nil
	}))
	o = outputFlag(cmd, "text", "json")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 3 if anything is missing")
	return cmd
}

func names(all []feature.Feature) []string {
	out := make([]string, len(all))
	for i, f := range all {
		out[i] = f.Name
	}
	return out
}

func (a *app) printFeatures(all []feature.Feature) {
	for _, group := range feature.Groups() {
		a.printf("%s\n", group)
		for _, f := range all {
			if f.Group != group {
				continue
			}
			if f.Present {
				a.printf("  yes  %-20s %s\n", f.Name, f.Detail)
				continue
			}
			a.printf("  no   %-20s %s\n", f.Name, f.Why)
			a.printf("         for: %s\n", f.Enables)
			if f.Fix != "" {
				a.printf("         fix: %s\n", f.Fix)
			}
		}
	}
}
