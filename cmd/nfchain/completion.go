package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completionExamples by shell: how its completion is switched on.
var completionExamples = map[string]string{
	"bash":       "source <(nfchain completion bash)",
	"fish":       "nfchain completion fish | source",
	"powershell": "nfchain completion powershell | Out-String | Invoke-Expression",
	"zsh":        "source <(nfchain completion zsh)",
}

// explainCobra gives the commands that cobra adds the examples that they lack.
func explainCobra(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  nfchain help bench"
		case "completion":
			cmd.Example = "  " + completionExamples["bash"]
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, otherShell
			for _, shell := range cmd.Commands() {
				shell.Example = "  " + completionExamples[shell.Name()]
			}
		}
	}
}

// completeRuns names the stored runs, the newest first, with what they are of; those that
// the line has already are left out.
func (a *app) completeRuns(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	list, err := a.storedRuns(cmd.Context())
	if err != nil {
		return nil, asListed // the command itself says what is wrong
	}
	var out []string
	add := func(ref, about string) {
		if strings.HasPrefix(ref, begun) && !slices.Contains(args, ref) {
			out = append(out, cobra.CompletionWithDesc(ref, about))
		}
	}
	if len(list) > 0 {
		add("last", "the newest")
	}
	for _, s := range list {
		about := s.Chain
		if s.Experiment != "" {
			about = s.Experiment
		}
		add(s.ID, about+", "+s.State)
	}
	return out, asListed
}

// completeRun names the stored runs for a first argument; what follows is a file's.
func (a *app) completeRun(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, anyFile
	}
	return a.completeRuns(cmd, args, begun)
}

// completeOneRun names them for commands of one run.
func (a *app) completeOneRun(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return a.completeRuns(cmd, args, begun)
}
