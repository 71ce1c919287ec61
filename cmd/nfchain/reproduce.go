package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/registry"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/published"
)

// reproduceFlags say which experiments to run, and how.
type reproduceFlags struct {
	experimentFlags
	sources     []string
	all, claims bool
}

func (a *app) reproduceCmd() *cobra.Command {
	var r reproduceFlags
	cmd := &cobra.Command{
		Use: "reproduce [ID|SOURCE]...", Short: "List the published experiments, or run some",
		Long: `Without an id, list the published experiments; with --claims, every statement of their
sources, with the experiments that test it or what it needs. With ids, sources or --all,
run them one after another and say which of the sources' statements hold on this machine.

Several are one sequence: the same command again goes on where an interruption stopped it,
and experiments that are whole are not run again; --fresh starts anew. One that fails is
reported, the others go on, and the exit code is 1; so it is where trials failed. --index writes a page for each report
and one that links them all.

On a machine that is calibrated (see calibrate), every experiment runs at what was found
too: its flows, payload size and settings. Settings that an experiment varies itself stay
its own, and so do the sizes of datagrams, frames and messages. Claims there have ids that
end with @calibrated, and are judged apart.

Several take about an hour, and --all --quick 30 minutes. As the sources have it they take
days, so what claims need is measured first: combinations that no claim needs are left out
and listed; where that is not enough trials are shorter than the source's, and then fewer, down to
what --quick has, and every report says so. --budget says another time, and --budget none has all
of it. One experiment alone has its source's durations. What claims need is measured even if
that takes longer.`,
		Example: `  nfchain reproduce
  nfchain reproduce --claims
  nfchain reproduce livi2016/fig7 --quick
  nfchain reproduce livi2016 --quick --index livi
  nfchain reproduce livi2016 --index livi
  nfchain reproduce livi2016 --budget none
  nfchain reproduce --all --quick --index pages
  nfchain reproduce --all --quick --budget 10m --dry-run`,
		ValidArgsFunction: cobra.FixedCompletions(slices.Concat(published.Sources(), published.IDs()), cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		ids, err := r.ids(args)
		switch {
		case err != nil:
			return err
		case r.claims:
			if err := onlyFlags(cmd, besideClaims, "--claims runs nothing"); err != nil {
				return err
			}
			return a.listClaims(sourcesOf(ids), *r.output.format)
		case len(ids) == 0:
			if err := onlyFlags(cmd, besideList, "no experiment is named to run (name some, a source such as livi2016, or --all)"); err != nil {
				return err
			}
			return a.listPublished(*r.output.format)
		}
		return a.privileged(func(cmd *cobra.Command, _ []string) error {
			return a.reproduce(cmd.Context(), ids, r)
		})(cmd, args)
	})
	f := cmd.Flags()
	f.StringSliceVar(&r.sources, "source", nil, "run all experiments of these sources, such as livi2016")
	f.BoolVar(&r.all, "all", false, "run all published experiments")
	f.BoolVar(&r.claims, "claims", false, "list the sources' statements, and run nothing")
	_ = cmd.RegisterFlagCompletionFunc("source", cobra.FixedCompletions(published.Sources(), cobra.ShellCompDirectiveNoFileComp))
	r.register(cmd)
	return cmd
}

// Flags that say something where nothing is run.
var (
	besideList   = []string{"output", "quiet", "results"}
	besideClaims = append([]string{"claims", "source", "all"}, besideList...)
)

// ids that a command line means, each once, in the order of the list of all.
func (r reproduceFlags) ids(args []string) ([]string, error) {
	all, sources := published.IDs(), published.Sources()
	wanted := map[string]bool{}
	for _, arg := range args {
		if !slices.Contains(all, arg) && !slices.Contains(sources, arg) {
			return nil, fmt.Errorf("there is no published experiment %q; there are %s: %w", arg, strings.Join(all, ", "), runs.ErrInput)
		}
		wanted[arg] = true
	}
	for _, source := range r.sources {
		if !slices.Contains(sources, source) {
			return nil, fmt.Errorf("--source %s: nothing is published of it here; there are %s: %w", source, strings.Join(sources, ", "), runs.ErrInput)
		}
		wanted[source] = true
	}
	if r.all && len(wanted) > 0 {
		return nil, fmt.Errorf("--all means every experiment; leave it out, or the others: %w", runs.ErrInput)
	}
	return slices.DeleteFunc(all, func(id string) bool { return !r.all && !wanted[id] && !wanted[published.Source(id)] }), nil
}

// sourcesOf experiments; of none, nil.
func sourcesOf(ids []string) (sources []string) {
	for _, id := range ids {
		sources = append(sources, published.Source(id))
	}
	return slices.Compact(sources)
}

// reproduce runs one experiment as `experiment run` does, and several as a sequence.
func (a *app) reproduce(ctx context.Context, ids []string, r reproduceFlags) error {
	var all []work
	for _, id := range ids {
		f, text, err := readPublished(id)
		if err != nil {
			return err
		}
		all = append(all, work{id, text, f})
	}
	e := r.timed(len(all))
	e.best = a.bestLoad(ctx)
	return a.experiments(ctx, all, e)
}

// readPublished decodes an experiment that comes with nfchain.
func readPublished(id string) (*api.File, string, error) {
	text, err := published.Read(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("there is no published experiment %q: %w", id, runs.ErrInput)
	}
	if err != nil {
		return nil, "", err
	}
	f, err := registry.Words().Decode(id, text)
	return f, string(text), err
}
