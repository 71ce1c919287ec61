package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	runs "nfchain.dev/nfchain/internal/run"
)

// printf writes to standard output. What cannot be written is kept for run, so that
// a full disk behind it is no success.
func (a *app) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(a.stdout, format, args...); err != nil && a.unwritten == nil {
		a.unwritten = acted{fmt.Errorf("write the result: %w", err)}
	}
}

// table is rows whose columns line up.
type table struct {
	*tabwriter.Writer
	failed error
}

// table begins with a heading, its columns apart by tabs as in every row.
func (a *app) table(heading string) *table {
	t := &table{Writer: tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)}
	t.row("%s\n", heading)
	return t
}

func (t *table) row(format string, args ...any) {
	if _, err := fmt.Fprintf(t, format, args...); t.failed == nil {
		t.failed = err
	}
}

func (t *table) end() error { return errors.Join(t.failed, t.Flush()) }

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
	_, _ = fmt.Fprintf(b.out, "\r\x1b[K%s", text)
}

// clear removes the line, so that other output begins at the left edge.
func (b *bar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		_, _ = fmt.Fprint(b.out, "\r\x1b[K")
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

// doing shows what is being done at this moment, in place of what was before.
func (a *app) doing(what string) {
	if a.quiet || !a.terminal {
		return
	}
	a.bar.out = a.stderr
	a.bar.show(a.now(), false, what)
}
