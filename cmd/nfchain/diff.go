package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/resource"
	runs "nfchain.dev/nfchain/internal/run"
)

func (a *app) diffCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff FILE...", Short: "Show what `up` would change of what is there",
		Long: `Compare a file's chains and functions with what there is of them, and show each thing
that ` + "`up`" + ` would make (+), remove (-) or change (~), and of a change what the kernel has and
what it would have. Where the kernel keeps a sum alone, as of a firewall's rules, it is the lines by which the chain's
file differs from the one that the chain was made from, if the kernel has what that says. Nothing is changed. The exit code
is 1 where something differs, as diff(1) has it.`,
		Example: "  nfchain diff examples/edge-chain.yaml\n  nfchain diff edge.yaml -o json",
	}
	var format *string
	share := shareFlag(cmd)
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		h := a.host(cmd.Context())
		f, _, err := a.toDeploy(h, args, *share)
		if err != nil {
			return err
		}
		if len(f.Chains)+len(f.Functions) == 0 {
			return fmt.Errorf("%s holds no chain and no function; experiments are run by `nfchain experiment run`: %w", args[0], runs.ErrInput)
		}
		found := deployed{SchemaVersion: 1, DryRun: true, Items: []deployedItem{}}
		differs := false
		err = a.upAll(cmd.Context(), h, f, runs.UpOptions{Alone: f.Functions, DryRun: true}, func(item deployedItem) {
			found.Items = append(found.Items, item)
			differs = differs || len(item.changes) > 0
			if *format == "text" {
				a.printDifference(item)
			}
		})
		if err != nil {
			return a.placed(err, args...)
		}
		if *format == "json" {
			if err := a.printJSON(found); err != nil {
				return err
			}
		}
		if differs {
			return exitCode{1}
		}
		return nil
	}))
	format = outputFlag(cmd, "text", "json")
	return cmd
}

// mostLines is how many lines tell of a resource; JSON has them all.
const mostLines = 40

// sign of a change, as diff(1) has them; it has none of what is there before and after.
var sign = map[resource.Op]string{resource.Create: "+", resource.Update: "~", resource.Delete: "-"}

func (a *app) printDifference(item deployedItem) {
	if item.bare {
		a.printf("%s\n", bareSummary(item.Name, true))
		return
	}
	a.printf("%s\n", summary(item.Name, item.changes, true))
	if item.MovedAtOnce != "" {
		a.printf("%s\n", atOnce(item, true))
	}
	if item.AwaitedFlows > 0 {
		a.printf("%s\n", awaited(item, true))
	}
	for i, c := range item.changes {
		a.printf("%s %s\n", sign[c.Op], item.named(c.ID))
		a.printChange(item.Changes[i], item.named)
	}
}

// printChange says how what is there differs from what would be: in words, by its values, or as the kernel tells it.
func (a *app) printChange(c changedItem, named func(string) string) {
	lines := c.Words
	for _, part := range c.Parts {
		if len(c.Words) == 0 {
			lines = append(lines, part.text(named)...)
		}
	}
	for at, line := range lines {
		if at == mostLines {
			a.printf("    … and %d more (-o json has them all)\n", len(lines)-at)
			break
		}
		a.printf("    %s\n", line)
	}
	if len(lines) == 0 && c.Was != "" {
		a.printf("    is:       %s\n    would be: %s\n", c.Was, c.WouldBe)
	}
	if c.Another {
		a.printf("    (it is not what the chain's file had: something else changed it, or another version of nfchain made it)\n")
	}
}
