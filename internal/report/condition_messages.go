package report

import (
	"fmt"
	"strconv"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// messageFields are those of transactions.
var messageFields = []field{
	messageSize("request_size", "request", func(c trial.Condition) uint64 { return c.RequestSize }),
	messageSize("response_size", "response", func(c trial.Condition) uint64 { return c.ResponseSize }),
	{"busy_loop", "busy loop", func(c trial.Condition) string { return yesNo(c.BusyLoop) }, false, busyWords,
		func(c trial.Condition) string { return strconv.FormatBool(c.BusyLoop) }},
}

// messageSize is a field that is a size, the tool's own where it is zero.
func messageSize(name, head string, of func(trial.Condition) uint64) field {
	text := func(c trial.Condition) string {
		if of(c) == 0 {
			return ""
		}
		return api.Size(of(c)).String()
	}
	words := func(c trial.Condition) string {
		if of(c) == 0 {
			return ""
		}
		return fmt.Sprintf("%s %s", head, text(c))
	}
	return field{name, head, text, false, words, func(c trial.Condition) string { return rawUnlessZero(float64(of(c))) }}
}

func busyWords(c trial.Condition) string {
	if c.BusyLoop {
		return "busy loop"
	}
	return "no busy loop"
}
