package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	runs "nfchain.dev/nfchain/internal/run"
)

// shareFlag has a command take several files and merge what is identical in their chains.
func shareFlag(cmd *cobra.Command) *bool {
	share := cmd.Flags().Bool("share", false, "merge identical functions of several tenants' chains, and keep the tenants apart")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *share {
			return cobra.MinimumNArgs(1)(cmd, args)
		}
		if len(args) > 1 {
			return fmt.Errorf("several files are taken with --share alone; without it, `%s` takes one at a time", cmd.CommandPath())
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
	return share
}

// sharing reads several files as one and shares what is identical.
func (a *app) sharing(h *runs.Host, files []string) (*plan.Sharing, error) {
	all := &api.File{}
	named := map[string]string{}
	for _, name := range files {
		f, _, err := a.file(name)
		if err != nil {
			return nil, err
		}
		for _, owner := range ownersOf(f) {
			if first := named[owner]; first != "" {
				return nil, fmt.Errorf("%s: %s is in %s already; each chain and function needs a name of its own: %w", name, owner, first, runs.ErrInput)
			}
			named[owner] = name
		}
		all.Chains, all.Functions = append(all.Chains, f.Chains...), append(all.Functions, f.Functions...)
	}
	if len(all.Chains) == 0 {
		return nil, fmt.Errorf("%s: there is no chain to share functions with: %w", strings.Join(files, ", "), runs.ErrInput)
	}
	s, err := plan.Share(all, h.Catalogue, h.Features.Has)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, runs.ErrInput)
	}
	for _, shared := range s.Shared {
		if named[shared.Name] != "" {
			return nil, fmt.Errorf("%s: %s is the name of a function that is to be shared; rename it: %w", named[shared.Name], shared.Name, runs.ErrInput)
		}
	}
	return s, nil
}

// ownersOf are the names of a file's chains and functions.
func ownersOf(f *api.File) (names []string) {
	for _, fn := range f.Functions {
		names = append(names, fn.Metadata.Name)
	}
	for _, c := range f.Chains {
		names = append(names, c.Metadata.Name)
	}
	return names
}

// sharedPlans is what `plan --share` prints as JSON.
type sharedPlans struct {
	*plan.Sharing
	Plans []*plan.Plan `json:"plans"`
}

// planShared prints what is shared, and the plan of everything.
func (a *app) planShared(h *runs.Host, files []string, format string) error {
	s, err := a.sharing(h, files)
	if err != nil {
		return err
	}
	parts, err := scripted(h, s)
	if err != nil {
		return err
	}
	out := sharedPlans{Sharing: s, Plans: []*plan.Plan{}}
	for _, part := range parts {
		out.Plans = append(out.Plans, part.Plan)
	}
	switch format {
	case "json":
		return a.printJSON(out)
	case "sh":
		a.printf("%s", plan.Script(parts...))
		return nil
	}
	a.printf("%s", s.Text())
	for _, p := range out.Plans {
		a.printf("\n%s\n", strings.TrimRight(p.Text(), "\n"))
	}
	return nil
}

// scripted are the plans of everything, functions first, with the commands that a script
// has for them besides.
func scripted(h *runs.Host, s *plan.Sharing) (parts []plan.Part, err error) {
	for _, f := range s.Functions {
		p, err := h.PlanFunction(f)
		if err != nil {
			return nil, err
		}
		remembering, err := h.RememberingFunction(f)
		if err != nil {
			return nil, err
		}
		parts = append(parts, plan.Part{Plan: p, First: []resource.Command{remembering}})
	}
	plans, err := h.PlanAll(s.Chains, s.Functions, plan.Options{})
	if err != nil {
		return nil, err
	}
	for i, p := range plans {
		remembering, err := h.Remembering(s.Chains[i], s.Functions, p)
		if err != nil {
			return nil, err
		}
		parts = append(parts, plan.Part{Plan: p, First: []resource.Command{remembering}})
	}
	return parts, nil
}
