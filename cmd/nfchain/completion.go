package main

import "github.com/spf13/cobra"

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
			for _, shell := range cmd.Commands() {
				shell.Example = "  " + completionExamples[shell.Name()]
			}
		}
	}
}
