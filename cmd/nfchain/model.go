package main

import (
	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/trial"
)

func (a *app) modelCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "model RUN", Short: "Fit models to a stored run, and say which foretells best",
		Long: `Fit the models that a run's experiment names, and every other that what was varied
permits: over length, loss per hop, cost per hop, fading loss and delay per hop; over
flows, the universal scalability law; over both, cores that are shared; over rules
and containers, what each costs. Their parameters have units and intervals, and
models of the same trials stand side by side by their error at values that they were
not fitted to. Where the trials do not tell which is best, it says so.
docs/statistics.md has the formulas and where they are from.`,
		Example: "  nfchain model last\n  nfchain model last -o json | jq .model_rankings", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.completeOneRun,
	}
	var o *string
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		runs, err := a.findAll(cmd, args)
		if err != nil {
			return err
		}
		rep, notes := modelled(runs[0])
		if *o == "json" {
			return report.ModelsJSON(a.stdout, rep, notes)
		}
		return report.ModelsText(a.stdout, rep, notes)
	})
	o = outputFlag(cmd, "text", "json")
	return cmd
}

// modelled is a run with all models that it permits, those of its experiment first, and
// why there are no more.
func modelled(r trial.Run) (report.Report, []string) {
	var notes []string
	spec := api.ExperimentSpec{}
	if r.Experiment != "" {
		f, err := registry.Words().Decode(r.ID, []byte(r.Spec))
		if err != nil || len(f.Experiments) == 0 {
			notes = append(notes, "the experiment's file can no longer be read, so its own models are not fitted")
		} else {
			spec = experiment.WithTwins(experiment.OnMachine(f.Experiments[0].Spec, r.Environment), r.Conditions)
		}
	}
	models, why := experiment.Models(spec.Models, r)
	spec.Models = models
	rep := report.New(r)
	rep.Fits, rep.Rankings = experiment.Fits(spec, r), experiment.Rankings(spec, r)
	return rep, append(notes, why...)
}
