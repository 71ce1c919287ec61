package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"nfchain.dev/nfchain/internal/netns"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
)

func (a *app) meterCmd() *cobra.Command {
	var m builtin.Meter
	cmd := &cobra.Command{
		Use: "meter --dev IF", Short: "Measure the frames of nfchain gen that reach an interface",
		Long: `Take the frames that nfchain gen sends off an interface, until the duration or an
interrupt ends it; then print the rate at which they came, loss by the numbers that
are missing, one-way latency counted from when each was due, its variation, order and
duplicates. Other packets pass. Times hold where both run on one host.`,
		Example: `  nfchain meter --dev eth0 --duration 10s
  nfchain meter --netns server --dev eth0 -o json`,
		Args: cobra.NoArgs,
	}
	var o *string
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		if err := namespaceThere(m.Netns); err != nil {
			return err
		}
		s, err := builtin.Receive(cmd.Context(), m)
		if err != nil {
			return deviceThere(err)
		}
		return a.printSample(s, *o)
	})
	f := cmd.Flags()
	f.StringVar(&m.Device, "dev", "", "interface to measure at")
	f.StringVar(&m.Netns, "netns", "", "network namespace of the interface (default: this one)")
	f.DurationVar(&m.Duration, "duration", 0, "how long to measure (default: until interrupted)")
	f.Uint32Var(&m.ID, "id", 0, "number of the load to take")
	_ = cmd.MarkFlagRequired("dev")
	o = outputFlag(cmd, "text", "json")
	return cmd
}

// namespaceThere refuses a namespace that is not.
func namespaceThere(name string) error {
	if name == "" || netns.Exists(name) {
		return nil
	}
	return fmt.Errorf("--netns: there is no network namespace %q; `ip netns list` shows those there are: %w", name, runs.ErrInput)
}

// deviceThere marks an error as wrong input where it is about an interface that is not.
func deviceThere(err error) error {
	if errors.Is(err, traffic.ErrNoDevice) {
		return fmt.Errorf("--dev: %w: %w", err, runs.ErrInput)
	}
	return err
}

// measured is what gen and meter print as JSON.
type measured struct {
	SchemaVersion int                `json:"schema_version"`
	Metrics       map[string]float64 `json:"metrics"`
	// Histograms by metric stem, HdrHistogram V2 compressed, base64.
	Histograms map[string]string `json:"histograms"`
	Warnings   []string          `json:"warnings"`
}

// printSample prints what was sent or what came.
func (a *app) printSample(s traffic.Sample, format string) error {
	if format == "json" {
		return a.printJSON(measured{1, s.Metrics, s.Histograms, append([]string{}, s.Warnings...)})
	}
	t := a.table("METRIC\tVALUE")
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		t.row("%s\t%s\n", name, strconv.FormatFloat(s.Metrics[name], 'g', 10, 64))
	}
	if err := t.end(); err != nil {
		return err
	}
	for _, w := range s.Warnings {
		a.printf("warning: %s\n", w)
	}
	return nil
}
