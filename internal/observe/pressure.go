package observe

import (
	"strconv"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// stalls is how long some, or all, work has waited since boot; nil is unknown.
type stalls struct{ some, full *time.Duration }

// readPressure reads the pressure of what the kernel tells it of
// (Documentation/accounting/psi.rst).
func readPressure(root procfs.Root) map[string]stalls {
	all := map[string]stalls{}
	for _, what := range []string{"cpu", "memory", "io"} {
		if s, ok := root.Text("proc/pressure/" + what); ok {
			all[what] = parsePressure(s)
		}
	}
	return all
}

// parsePressure reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in µs.
func parsePressure(s string) (p stalls) {
	for line := range strings.Lines(s) {
		_, after, ok := strings.Cut(line, " total=")
		micros, err := strconv.ParseUint(strings.TrimSpace(after), 10, 53)
		if !ok || err != nil {
			continue
		}
		waited := time.Duration(micros) * time.Microsecond
		switch {
		case strings.HasPrefix(line, "some "):
			p.some = &waited
		case strings.HasPrefix(line, "full "):
			p.full = &waited
		}
	}
	return p
}

// pressureSince is the share of the time spent that work waited; nil where the
// kernel tells nothing.
func pressureSince(before, after map[string]stalls, spent time.Duration) map[string]trial.Pressure {
	shares := map[string]trial.Pressure{}
	for what, a := range after {
		b, ok := before[what]
		if !ok || spent <= 0 {
			continue
		}
		p := trial.Pressure{Some: waitedShare(b.some, a.some, spent), Full: waitedShare(b.full, a.full, spent)}
		if p.Some != nil || p.Full != nil {
			shares[what] = p
		}
	}
	if len(shares) == 0 {
		return nil
	}
	return shares
}

// waitedShare is at most one: the kernel brings its totals up to date now and then.
func waitedShare(before, after *time.Duration, spent time.Duration) *float64 {
	if before == nil || after == nil || *after < *before {
		return nil
	}
	share := min(1, (*after-*before).Seconds()/spent.Seconds())
	return &share
}
