package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) runsCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "List, remove, export and import stored runs", Example: "  nfchain runs ls"}
	cmd.AddCommand(a.runsListCmd(), a.runsRemoveCmd(), a.runsExportCmd(), a.runsImportCmd())
	return cmd
}

func (a *app) runsListCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "ls", Short: "List stored runs, the newest first", Example: "  nfchain runs ls -o json", Args: cobra.NoArgs}
	var o *string
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		list, err := a.storedRuns(cmd.Context())
		if err != nil {
			return err
		}
		if *o == "json" {
			return a.printJSON(struct {
				SchemaVersion int               `json:"schema_version"`
				Runs          []results.Summary `json:"runs"`
			}{1, list})
		}
		w := a.table("RUN\tCHAIN\tEXPERIMENT\tSTATE\tTRIALS\tCREATED")
		for _, s := range list {
			w.row("%s\t%s\t%s\t%s\t%d\t%s\n", s.ID, s.Chain, s.Experiment, s.State, s.Trials, s.CreatedAt.Local().Format("2006-01-02 15:04:05"))
		}
		return w.end()
	})
	o = outputFlag(cmd, "text", "json")
	return cmd
}

// storedRuns lists what is stored; before the first run that is nothing, unless the
// user named a place that is not there.
func (a *app) storedRuns(ctx context.Context) ([]results.Summary, error) {
	store, err := a.stored()
	if errors.Is(err, results.ErrNone) && a.named() == "" {
		return []results.Summary{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	return store.List(ctx)
}

func (a *app) runsRemoveCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "rm RUN...", Short: "Remove stored runs", Example: "  nfchain runs rm 20261121-035352-k3f9", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeRuns}
	var o *string
	cmd.RunE = does(a.withStore(func(cmd *cobra.Command, store *results.Store, args []string) error {
		ids := make([]string, len(args))
		for i, ref := range args {
			id, err := store.Find(cmd.Context(), ref)
			if err != nil {
				return err
			}
			ids[i] = id
		}
		if err := store.Remove(cmd.Context(), ids...); err != nil {
			return err
		}
		if *o == "json" {
			return a.printJSON(struct {
				SchemaVersion int      `json:"schema_version"`
				Removed       []string `json:"removed"`
			}{1, ids})
		}
		for _, id := range ids {
			a.printf("%s: removed\n", id)
		}
		return nil
	}))
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func (a *app) runsExportCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "export RUN [FILE]", Short: "Write a run with its raw samples as one JSON document",
		Example: "  nfchain runs export last run.json", Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.completeRun}
	cmd.RunE = does(a.withStore(func(cmd *cobra.Command, store *results.Store, args []string) error {
		id, err := store.Find(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if len(args) == 1 || args[1] == "-" {
			return store.Export(cmd.Context(), id, a.stdout)
		}
		return writeFile(args[1], func(w io.Writer) error { return store.Export(cmd.Context(), id, w) })
	}))
	return cmd
}

func (a *app) runsImportCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "import FILE", Short: "Store a run that was exported", Example: "  nfchain runs import run.json\n  nfchain runs import run.json -o json", Args: cobra.ExactArgs(1)}
	var o *string
	cmd.RunE = does(a.with(a.store, func(cmd *cobra.Command, store *results.Store, args []string) error {
		in := a.stdin
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there is no file %q: %w", args[0], runs.ErrInput)
			}
			if err != nil {
				return fmt.Errorf("%w: %w", err, runs.ErrInput)
			}
			defer func() { _ = f.Close() }()
			in = f
		}
		id, err := store.Import(cmd.Context(), in)
		if errors.Is(err, results.ErrFull) || errors.Is(err, results.ErrReadOnly) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%w: %w", err, runs.ErrInput)
		}
		if *o == "json" {
			return a.printJSON(struct {
				SchemaVersion int    `json:"schema_version"`
				Run           string `json:"run"`
			}{1, id})
		}
		a.printf("%s: imported\n", id)
		return nil
	}))
	o = outputFlag(cmd, "text", "json")
	return cmd
}

// withStore opens the results database for a command that reads it.
func (a *app) withStore(fn func(*cobra.Command, *results.Store, []string) error) func(*cobra.Command, []string) error {
	return a.with(a.stored, fn)
}

func (a *app) with(open func() (*results.Store, error), fn func(*cobra.Command, *results.Store, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		store, err := open()
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		return fn(cmd, store, args)
	}
}
