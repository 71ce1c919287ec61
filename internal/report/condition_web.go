package report

import (
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// webFields are those of requests to a web server.
var webFields = []field{
	{"url", "URL", urlText, false, urlText, urlText},
	// What is offered shows this one too.
	{"request_rate", "offered", silent, false, silent, func(c trial.Condition) string { return rawUnlessZero(float64(c.RequestRate)) }},
}

func urlText(c trial.Condition) string { return c.URL }

// asks tells whether web servers were asked at a rate, or else without one.
func (r Report) asks(atRate bool) bool {
	return slices.ContainsFunc(r.Conditions, func(c trial.Summary) bool { return c.Protocol == trial.HTTP && (c.RequestRate > 0) == atRate })
}
