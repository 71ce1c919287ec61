package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/registry"
)

// version is set when a release is linked; otherwise it follows from the build.
var version string

// Version of this binary: the release, or the commit it was built from.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "commit " + s.Value[:12]
		}
	}
	return "development"
}

func (a *app) versionCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  nfchain version\n  nfchain version -o json", Args: cobra.NoArgs,
	}
	var o *string
	cmd.RunE = does(func(*cobra.Command, []string) error {
		if *o == "json" {
			return a.printJSON(struct {
				SchemaVersion int    `json:"schema_version"`
				Version       string `json:"version"`
				Go            string `json:"go_version"`
			}{1, versionText(), runtime.Version()})
		}
		_, err := fmt.Fprintf(a.stdout, "nfchain %s, %s\n", versionText(), runtime.Version())
		return err
	})
	o = outputFlag(cmd, "text", "json")
	return cmd
}

func (a *app) schemaCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of the files", Example: "  nfchain schema > nfchain.schema.json", Args: cobra.NoArgs,
	}
	cmd.RunE = does(func(*cobra.Command, []string) error {
		text, err := registry.Words().Schema()
		if err != nil {
			return err
		}
		_, err = a.stdout.Write(text)
		return err
	})
	return cmd
}
