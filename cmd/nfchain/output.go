package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	runs "nfchain.dev/nfchain/internal/run"
)

// printJSON writes one object as JSON.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// outputFlag adds -o with the formats that a command has, the first by default.
func outputFlag(cmd *cobra.Command, formats ...string) *string {
	o := cmd.Flags().StringP("output", "o", formats[0], "output format: "+strings.Join(formats, ", "))
	check := cmd.RunE
	cmd.RunE = func(c *cobra.Command, args []string) error {
		for _, f := range formats {
			if *o == f {
				return check(c, args)
			}
		}
		return fmt.Errorf("there is no output format %q; use %s: %w", *o, strings.Join(formats, ", "), runs.ErrInput)
	}
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return o
}

// bar is a line of progress on a terminal.
type bar struct {
	mu    sync.Mutex
	shown bool
	last  time.Time
	out   interface{ Write([]byte) (int, error) }
}

// show replaces the line, at most ten times a second unless it is final.
func (b *bar) show(now time.Time, final bool, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !final && now.Sub(b.last) < 100*time.Millisecond {
		return
	}
	b.last, b.shown = now, true
	fmt.Fprintf(b.out, "\r\x1b[K%s", text)
}

// clear removes the line, so that other output begins at the left edge.
func (b *bar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		fmt.Fprint(b.out, "\r\x1b[K")
		b.shown = false
	}
}

// progress shows how far a deployment is.
func (a *app) progress(what string, done, total int) {
	if a.quiet || !a.terminal || total < 20 {
		return
	}
	a.bar.out = a.stderr
	a.bar.show(a.now(), done == total, fmt.Sprintf("%s %d/%d", what, done, total))
}
