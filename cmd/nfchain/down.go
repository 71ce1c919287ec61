package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource/namespace"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

func (a *app) downCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "down NAME...", Short: "Remove chains and functions, with everything they are made of",
		Long: `Remove chains and standalone functions by their names, not those of files. They are found by the mark that
everything of theirs carries, so nothing need be known of how they were made.`,
		Example:           "  nfchain down edge\n  nfchain down --all",
		ValidArgsFunction: completeNames,
	}
	var o *string
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		h := a.host(cmd.Context())
		args, err := a.whichDown(args, all)
		if err != nil {
			return err
		}
		// Chains first: a function that stands alone is kept while one goes through it.
		slices.SortStableFunc(args, func(x, y string) int { return alone(x) - alone(y) })
		gone, through := removed{1, []removedItem{}}, standalone(h, args)
		var failed error
		for _, name := range args {
			bare := checkName(name) == nil && h.BareIsUp(name)
			contained := runs.LeftContainers(cmd.Context(), name)
			n, err := a.downOne(cmd.Context(), h, name)
			if err != nil {
				if failed == nil {
					failed = err
				} else { // which may be for the first one's sake, that the exit code is of
					_, _ = fmt.Fprintln(a.stderr, "nfchain: "+describe(err))
				}
				if cmd.Context().Err() != nil {
					break
				}
				continue // what is the matter with one keeps none of the others
			}
			gone.Removed = append(gone.Removed, removedItem{name, n, contained})
			if *o == "text" {
				a.printRemoved(name, n, contained, bare)
			}
		}
		if *o == "text" && failed == nil {
			return a.printLeft(through)
		}
		if *o == "json" {
			failed = errors.Join(failed, a.printJSON(gone))
		}
		return failed
	}))
	o = outputFlag(cmd, "text", "json")
	cmd.Flags().BoolVar(&all, "all", false, "every chain and function there is")
	return cmd
}

// whichDown is what there is to remove: what is named, or everything.
func (a *app) whichDown(named []string, all bool) ([]string, error) {
	switch {
	case all && len(named) > 0:
		return nil, fmt.Errorf("--all leaves nothing to name; leave out one of the two: %w", runs.ErrInput)
	case all:
		return deploy.Owners()
	case len(named) == 0:
		return nil, fmt.Errorf("say which chains, or --all: %w", runs.ErrInput)
	}
	for _, name := range named {
		if err := a.noFile(name); err != nil {
			return nil, err
		}
	}
	return named, nil
}

// noFile refuses a file where a name belongs, with the names that it holds, and so CHAIN/NODE.
func (a *app) noFile(arg string) error {
	wrong := checkName(arg)
	if wrong == nil || arg == stdout {
		return wrong
	}
	if err := wholeChain(arg); err != nil {
		return err
	}
	f, _, err := a.file(arg)
	if err != nil || len(f.Chains)+len(f.Functions) == 0 {
		return wrong
	}
	var names []string
	for _, c := range f.Chains {
		names = append(names, c.Metadata.Name)
	}
	for _, fn := range f.Functions {
		names = append(names, fn.Metadata.Name)
	}
	return fmt.Errorf("%s is a file, and what is removed is named: write `nfchain down %s`, which is what it holds: %w", arg, strings.Join(names, " "), runs.ErrInput)
}

// alone is 1 for a standalone function and 0 for a chain.
func alone(name string) int {
	if netns.Exists(namespace.Alone(name)) {
		return 1
	}
	return 0
}

// removed is what down prints as JSON.
type removed struct {
	SchemaVersion int           `json:"schema_version"`
	Removed       []removedItem `json:"removed"`
}

// removedItem is one chain or standalone function of which nothing is left.
type removedItem struct {
	Name string `json:"name"`
	// Namespaces that there were; 0 where nothing was there.
	Namespaces int `json:"namespaces"`
	// Containers of which nothing else was there any more.
	Containers int `json:"containers,omitempty"`
}

func (a *app) printRemoved(name string, n, containers int, bare bool) {
	switch {
	case n > 0:
		a.printf("%s: removed, with %s\n", name, words.Plural(n, "namespace"))
	case containers > 0:
		a.printf("%s: removed, with %s, of which nothing else was there any more\n", name, words.Plural(containers, "container"))
	case bare:
		a.printf("%s: removed; it had made nothing\n", name)
	default:
		a.printf("%s: nothing was there\n", name)
	}
}

// standalone are the functions that stand alone and that these chains go through.
func standalone(h *runs.Host, names []string) (functions []string) {
	for _, name := range names {
		if checkName(name) != nil {
			continue
		}
		chain, _ := h.Chain(name) // what nobody knows goes through none
		for _, f := range chain.Spec.Functions {
			if f.Ref != "" && !slices.Contains(functions, f.Ref) {
				functions = append(functions, f.Ref)
			}
		}
	}
	return functions
}

// printLeft names those of the functions that are still up and that no chain goes through
// any more, because a shared one has a name that nobody has written.
func (a *app) printLeft(functions []string) error {
	for _, name := range functions {
		guests, err := deploy.Guests(name)
		if err != nil {
			return err
		}
		if len(guests) == 0 && alone(name) == 1 {
			a.printf("%s: is still up, and no chain goes through it; `nfchain down %s` removes it\n", name, name)
		}
	}
	return nil
}

// downOne removes one thing under its lock and gives how many namespaces it had.
func (a *app) downOne(ctx context.Context, h *runs.Host, name string) (int, error) {
	if err := checkName(name); err != nil {
		return 0, err
	}
	lock, err := h.Lock(ctx, name)
	if err != nil {
		return 0, err
	}
	defer lock.Release()
	// What has begun is finished: a chain half removed is worth nothing.
	n, err := h.Down(context.WithoutCancel(ctx), name)
	a.bar.clear()
	return n, err
}
