package run

import (
	"fmt"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// upsets are what a reader must know of a machine that was changed during a trial.
func upsets(o trial.Observation, tool traffic.Tool) (warnings []string) {
	if len(o.CoresLost) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s taken away during the trial: what ran there went on elsewhere, on fewer cores than the chain had before", cores(o.CoresLost)))
	}
	if len(o.CoresCame) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s added during the trial: the chain had more cores than before", cores(o.CoresCame)))
	}
	if o.ClockSetS != nil {
		warnings = append(warnings, clockSet(*o.ClockSetS, tool))
	}
	return warnings
}

func cores(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("core %d was", list[0])
	}
	return "cores " + strings.Trim(fmt.Sprint(list), "[]") + " were"
}

// clockSet says what it did to the numbers that somebody set the wall clock.
func clockSet(seconds float64, tool traffic.Tool) string {
	by := time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
	text := fmt.Sprintf("the wall clock was set during the trial, by %v: ", by)
	if _, reads := tool.(traffic.WallClocked); reads {
		return text + tool.Name() + " measures by that clock, so that its times and rates are wrong; measure again"
	}
	return text + tool.Name() + " measures by another clock, and nothing of it shows in the numbers"
}
