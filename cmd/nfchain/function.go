package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/registry"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) functionCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "function", Short: "List the kinds of functions that there are, and show one with its options", Example: "  nfchain function ls"}
	cmd.AddCommand(a.functionListCmd(), a.functionShowCmd())
	return cmd
}

func (a *app) functionListCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the kinds of functions, what they do, and where they can live",
		Long: `List the kinds of functions that a chain's file can name, with the runtimes that each can have,
and the images of functions that ` + "`make images`" + ` builds, which are of kind command or dpi. Functions that are up
are listed by ` + "`nfchain ls`.",
		Example: "  nfchain function ls\n  nfchain function ls -o json", Args: cobra.NoArgs,
	}
	var o *string
	cmd.RunE = does(func(*cobra.Command, []string) error {
		kinds := registry.Kinds()
		images, err := registry.Images()
		if err != nil {
			return err
		}
		if *o == "json" {
			return a.printJSON(struct {
				SchemaVersion int              `json:"schema_version"`
				Functions     []registry.Kind  `json:"functions"`
				Images        []registry.Image `json:"images"`
			}{1, kinds, images})
		}
		w := a.table("KIND\tRUNTIMES\tWHAT")
		for _, k := range kinds {
			w.row("%s\t%s\t%s\n", k.Name, strings.Join(k.Runtimes, ", "), k.Does)
		}
		if err := w.end(); err != nil {
			return err
		}
		a.printf("\n")
		w = a.table("IMAGE\tCAPABILITIES\tWHAT")
		for _, i := range images {
			w.row("%s\t%s\t%s\n", i.Path, listOr(i.Capabilities, "none"), i.Does)
		}
		return w.end()
	})
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func (a *app) functionShowCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show KIND|IMAGE", Short: "Show a kind of function: its options with units and defaults, its container, an example",
		Long: `Show a kind of function: what it does, the runtimes that it can have, what its container is made from
and may do, the features of the machine that it needs unless options say otherwise ` + "(`nfchain doctor`" + `
tells of each), its options with what is written there and what holds where nothing is, and a
file with a function of the kind. Of an image that ` + "`nfchain function ls`" + ` lists, what it is, what its program may do, its options, and a file with it.`,
		Example: "  nfchain function show shaper\n  nfchain function show firewall -o json\n  nfchain function show images/webserver",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: completeFunctions,
	}
	var o *string
	cmd.RunE = does(func(_ *cobra.Command, args []string) error {
		image, is, err := imageCalled(args[0])
		if err != nil {
			return err
		}
		if is {
			return a.printImage(image, *o)
		}
		kind, err := kindCalled(args[0])
		if err != nil {
			return err
		}
		if *o == "json" {
			return a.printJSON(struct {
				SchemaVersion int `json:"schema_version"`
				registry.Kind
			}{1, kind})
		}
		return a.printKind(kind)
	})
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func kindCalled(name string) (registry.Kind, error) {
	all := registry.Kinds()
	i := slices.IndexFunc(all, func(k registry.Kind) bool { return k.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	hint := "`nfchain function ls` lists those there are"
	if near := api.Nearest(name, functionNames()); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return registry.Kind{}, fmt.Errorf("there is no kind of function %q; %s: %w", name, hint, runs.ErrInput)
}

// imageCalled by its path, or by that of its directory alone where no kind has that name.
func imageCalled(name string) (image registry.Image, is bool, err error) {
	all, err := registry.Images()
	i := slices.IndexFunc(all, func(i registry.Image) bool {
		return i.Path == name || path.Base(i.Path) == name && !slices.Contains(registry.Words().Kinds(), name)
	})
	if i < 0 {
		return image, false, err
	}
	return all[i], true, err
}

func completeFunctions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return functionNames(), cobra.ShellCompDirectiveNoFileComp
}

// functionNames are those of kinds, and the paths of images.
func functionNames() []string {
	names := registry.Words().Kinds()
	images, _ := registry.Images()
	for _, i := range images {
		names = append(names, i.Path)
	}
	return names
}

func listOr(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }

func (a *app) printImage(i registry.Image, format string) error {
	if format == "json" {
		return a.printJSON(struct {
			SchemaVersion int `json:"schema_version"`
			registry.Image
		}{1, i})
	}
	a.printf("%s: %s\n\n", i.Path, i.Does)
	w := a.table("capabilities\t" + listOr(i.Capabilities, "none"))
	w.row("built by\tmake images, or up where it is not there\n")
	if err := w.end(); err != nil {
		return err
	}
	if len(i.Options) > 0 {
		a.printf("\nOptions, under command.env:\n\n")
		w := a.table("OPTION\tDEFAULT\tWHAT")
		for _, o := range i.Options {
			w.row("%s\t%s\t%s\n", o.Name, cmp.Or(o.Default, "-"), o.Description)
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	a.printf("\nA chain with it, %s.yaml:\n\n%s", i.Path, i.Example)
	return nil
}

func (a *app) printKind(k registry.Kind) error {
	a.printf("%s: %s\n\n", k.Name, k.Does)
	w := a.table("runtimes\t" + strings.Join(k.Runtimes, ", "))
	if k.Contained != "" {
		w.row("in containers\tonly with %s: %s\n", k.Name, k.Contained)
	}
	w.row("image\t%s\n", k.Image)
	w.row("capabilities\t%s\n", k.Capabilities)
	if k.Hugepages {
		w.row("hugepages\tas many as resources: {hugepages: SIZE} says, in a container no more\n")
	}
	if len(k.Requires) > 0 {
		w.row("needs\t%s\n", strings.Join(k.Requires, ", "))
	}
	if err := w.end(); err != nil {
		return err
	}
	if len(k.Options) == 0 {
		a.printf("\nIt has no options.\n")
	} else if err := a.printOptions(k); err != nil {
		return err
	}
	a.printf("\nAn example:\n\n%s", k.Example)
	return nil
}

func (a *app) printOptions(k registry.Kind) error {
	a.printf("\nOptions, under %s:\n\n", k.Name)
	w := a.table("OPTION\tIS\tDEFAULT\tWHAT")
	for _, o := range k.Options {
		w.row("%s\t%s\t%s\t%s\n", o.Path, valueOf(o), defaultOf(o), o.Description)
	}
	return w.end()
}

// valueOf an option in words, as narrow as they can be.
func valueOf(o api.Option) string {
	if len(o.OneOf) > 0 {
		words := strings.Join(o.OneOf, " | ")
		if list, is := strings.CutPrefix(o.Is, "list of "); is && list == "text" {
			return "list of " + words
		}
		return words
	}
	if b := o.Bounds(); b != "" {
		return o.Is + ", " + b
	}
	return o.Is
}

// defaultOf an option; what must be given has none.
func defaultOf(o api.Option) string {
	switch {
	case o.Required:
		return "(required)"
	case len(o.Default) == 0:
		return "-"
	}
	return strings.Trim(string(o.Default), `"`)
}
