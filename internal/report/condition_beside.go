package report

import (
	"cmp"
	"slices"
	"strconv"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// besideFields are what else there was while a condition was measured.
var besideFields = []field{
	{"active_chains", "active chains", chainsText, false, func(c trial.Condition) string { return words.Plural(activeChains(c), "active chain") }, chainsText},
	{"idle_containers", "idle containers", idleContainersText, false, func(c trial.Condition) string { return idleContainersText(c) + " idle containers" }, idleContainersText},
	{"harm", "harm", harmText, false, func(c trial.Condition) string { return "harm to " + harmText(c) }, func(c trial.Condition) string { return c.Harm }},
}

// notAlone tells a field of them that says of some condition that there was something: then
// it is told although it never varies, as goodput is the sum over all active chains.
func notAlone(f field, conditions []trial.Summary) bool {
	return slices.ContainsFunc(besideFields, func(b field) bool { return b.name == f.name }) &&
		slices.ContainsFunc(conditions, func(c trial.Summary) bool { return f.text(c.Condition) != f.text(trial.Condition{}) })
}

// activeChains are those that carry the load, the measured one included.
func activeChains(c trial.Condition) int { return max(1, c.ActiveChains) }

func chainsText(c trial.Condition) string         { return strconv.Itoa(activeChains(c)) }
func harmText(c trial.Condition) string           { return cmp.Or(c.Harm, "none") }
func idleContainersText(c trial.Condition) string { return strconv.Itoa(c.IdleContainers) }
