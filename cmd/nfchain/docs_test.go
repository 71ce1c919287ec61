package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestDocsShowRealCommands: every command line that the documents show is one that
// nfchain has, with flags that it takes.
func TestDocsShowRealCommands(t *testing.T) {
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range append(names, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "```sh\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			for line := range strings.Lines(block) {
				if args, is := shown(line); is {
					seen++
					checkCommand(t, filepath.Base(name), args)
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d commands were found", seen)
	}
}

// TestHelpShowsRealCommands: so are the examples of every --help, and the files that they
// name from here are in the repository.
func TestHelpShowsRealCommands(t *testing.T) {
	seen := 0
	root := (&app{env: env{args: []string{"nfchain"}, getenv: func(string) string { return "" }, now: time.Now}}).root()
	for _, cmd := range everyCommand(root) {
		for line := range strings.Lines(cmd.Example) {
			if args, is := shown(line); is && !cmd.Hidden {
				seen++
				checkCommand(t, "`"+cmd.CommandPath()+" --help`", args)
				checkFiles(t, cmd.CommandPath(), args)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d commands were found", seen)
	}
}

// everyCommand is cmd and all those below it.
func everyCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, everyCommand(c)...)
	}
	return all
}

// checkFiles finds those of a command's arguments that lie in the repository.
func checkFiles(t *testing.T, command string, args []string) {
	t.Helper()
	for _, arg := range args {
		if !strings.HasPrefix(arg, "examples/") && !strings.HasPrefix(arg, "published/") {
			continue
		}
		if _, err := os.Stat("../../" + arg); err != nil {
			t.Errorf("`%s --help` names a file that is not there: %v", command, err)
		}
	}
}

// shown is a line's nfchain command, without what a shell does with it.
func shown(line string) (args []string, is bool) {
	line, _, _ = strings.Cut(line, " #")
	for _, end := range []string{" |", " > "} {
		line, _, _ = strings.Cut(line, end)
	}
	rest, is := strings.CutPrefix(strings.TrimSpace(line), "nfchain ")
	quoted := false
	return strings.FieldsFunc(rest, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
			return true
		}
		return r == ' ' && !quoted
	}), is
}

func checkCommand(t *testing.T, document string, args []string) {
	t.Helper()
	root := (&app{env: env{args: []string{"nfchain"}, getenv: func(string) string { return "" }, now: time.Now}}).root()
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.Runnable() {
		t.Errorf("%s shows %q: no such command (%v)", document, args, err)
		return
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s shows %q: %v", document, args, err)
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s shows %q: %v", document, args, err)
	}
}
