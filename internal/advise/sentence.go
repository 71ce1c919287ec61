package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/words"
)

// word puts the advice on a case in two sentences.
func (j judge) word(c *Case, best int) {
	switch c.Verdict {
	case Use:
		c.Advice = "Use " + c.Choice + ": " + sayAll(c.Choices[best].Clauses) + "."
		c.Alternatives = others(c.Choices, best)
	case None:
		c.Advice = "No choice that was measured meets the goal" + j.nearest(c.Choices) + "."
		c.Alternatives = each(c.Choices, -1)
	default:
		c.Advice = cannotTell(c.Choices)
		c.Alternatives = others(c.Choices, 0)
		if len(c.Choices) > 1 {
			c.Alternatives = each(c.Choices, -1)
		}
	}
}

// cannotTell says so, and of what.
func cannotTell(choices []Choice) string {
	if len(choices) == 1 {
		return "Cannot tell whether " + choices[0].Name + " meets the goal: " + choices[0].first(Open).say() + "."
	}
	return fmt.Sprintf("Cannot tell which to use: none of %d choices surely meets the goal, and these may: %s.", len(choices), open(choices))
}

// sayAll says of every clause what was measured.
func sayAll(clauses []Finding) string {
	parts := make([]string, len(clauses))
	for i, f := range clauses {
		parts[i] = f.say()
	}
	return strings.Join(parts, ", and ")
}

// say what was measured of a clause, and where it lies.
func (f Finding) say() string {
	if len(f.Evidence) == 0 {
		return f.Why
	}
	e := f.deciding()
	text := words.Metric(e.Metric) + " is " + e.value()
	if e.Interval != nil {
		text += fmt.Sprintf(" [%s to %s, %s of %s]", words.Amount(e.Metric, e.Interval[0]), words.Amount(e.Metric, e.Interval[1]), words.Plural(e.Trials, "trial"), e.Condition.Protocol)
	}
	switch f.Verdict {
	case Meets:
		return text + ", which meets " + f.Clause
	case Misses:
		return text + ", which misses " + f.Clause
	}
	return text + ", and " + f.Why
}

// value with its unit.
func (e Evidence) value() string { return words.Amount(e.Metric, e.Estimate) }

// deciding is the evidence that a clause's verdict comes from; of several that meet it,
// the first.
func (f Finding) deciding() Evidence {
	for _, e := range f.Evidence {
		if e.Verdict == f.Verdict {
			return e
		}
	}
	return f.Evidence[0]
}

// others says what the choices besides the best come to.
func others(choices []Choice, best int) string {
	if len(choices) == 1 {
		return "Nothing else was measured for the same functions and load."
	}
	return each(choices, best)
}

// each says what every choice but one comes to.
func each(choices []Choice, but int) string {
	var parts []string
	for i, c := range choices {
		if i != but {
			parts = append(parts, c.Name+" "+c.summary())
		}
	}
	return capital(some(parts)) + "."
}

// summary of a choice that is not advised.
func (c Choice) summary() string {
	price := ""
	if len(c.Prices) > 0 {
		price = ", with " + pricesText(c.Prices)
	}
	switch c.Verdict {
	case Meets:
		return "meets it too" + price
	case Misses:
		return "misses it, since its " + c.first(Misses).say() + price
	}
	return "cannot be told, since " + c.first(Open).say() + price
}

// first clause of a verdict.
func (c Choice) first(verdict string) Finding {
	for _, f := range c.Clauses {
		if f.Verdict == verdict {
			return f
		}
	}
	return Finding{}
}

func open(choices []Choice) string {
	var names []string
	for _, c := range choices {
		if c.Verdict == Open {
			names = append(names, c.Name)
		}
	}
	return some(names)
}

// told is how many of several things a sentence names.
const told = 4

// some of several things, and how many more there are.
func some(parts []string) string {
	if more := len(parts) - told; more > 0 {
		parts = append(slices.Clone(parts[:told]), fmt.Sprintf("%d more below", more))
	}
	return strings.Join(parts, "; ")
}

// nearest of the choices that miss the goal, by its first clause.
func (j judge) nearest(choices []Choice) string {
	at, most := -1, math.Inf(-1)
	for i, c := range choices {
		if margin := j.margin(c); len(c.Clauses[0].Evidence) > 0 && margin > most {
			at, most = i, margin
		}
	}
	if at < 0 {
		return ""
	}
	e := choices[at].Clauses[0].Evidence[0]
	return fmt.Sprintf("; nearest to %s is %s with %s", choices[at].Clauses[0].Clause, choices[at].Name, e.value())
}

func capital(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// among names a restriction in a message.
func among(where map[string]any) string {
	if len(where) == 0 {
		return "; a run needs conditions through a chain"
	}
	return " with " + experiment.Describe(where)
}
