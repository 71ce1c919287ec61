package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/words"
)

// explainArguments has every command say what to write where cobra counts its arguments
// and finds too few or too many.
func explainArguments(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		explainArguments(c)
	}
	count := cmd.Args
	if count == nil || !cmd.Runnable() {
		return
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		err := count(c, args)
		if err != nil && (strings.Contains(err.Error(), "arg(s)") || strings.HasPrefix(err.Error(), "unknown command") && !c.HasSubCommands()) {
			return fmt.Errorf("write `%s`, not %s; `%s --help` has examples", written(c), words.Plural(len(args), "argument"), c.CommandPath())
		}
		return err
	}
}

// written is how a command is written.
func written(c *cobra.Command) string { return strings.TrimSuffix(c.UseLine(), " [flags]") }

// unknownFlag names the nearest of a command's flags for one that it has not.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	if len(name) == 1 {
		return fmt.Errorf("%s has no flag -%s; `%s --help` lists those it has", cmd.CommandPath(), name, cmd.CommandPath())
	}
	hint := fmt.Sprintf("`%s --help` lists those it has", cmd.CommandPath())
	if near := api.Nearest(name, known); near != "" {
		hint = "did you mean --" + near + "?"
	}
	return fmt.Errorf("%s has no flag --%s; %s", cmd.CommandPath(), name, hint)
}

// missingFlags says which flags a command needs, and shows one that has them, where cobra finds some missing.
func missingFlags(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	text, missing := strings.CutPrefix(err.Error(), "required flag(s) ")
	if !missing {
		return err
	}
	flags := strings.Split(strings.TrimSuffix(text, " not set"), ", ")
	for i, name := range flags {
		flags[i] = "--" + strings.Trim(name, `"`)
	}
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return fmt.Errorf("%s needs %s; write it as in `%s`", cmd.CommandPath(), strings.Join(flags, " and "), example)
}

// otherShell refuses a shell that there is no completion for; without one, all are told.
func otherShell(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	shells := slices.Sorted(maps.Keys(completionExamples))
	return fmt.Errorf("there is no completion for %q; write one of %s", args[0], strings.Join(shells, ", "))
}
