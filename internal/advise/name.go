package advise

import (
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
)

// nameApart names the choices of a case by their wiring and by what they differ in.
func nameApart(choices []Choice) {
	for i := range choices {
		choices[i].Name = choices[i].words(choices)
	}
	names := map[string]int{}
	for _, c := range choices {
		names[c.Name]++
	}
	seen := map[string]bool{}
	for i := range choices {
		c := &choices[i]
		if names[c.Name] > 1 { // they differ in what was not varied: in their files
			c.Name += " (as in run " + c.cells[0].run.ID + ")"
		}
		for name, n := c.Name, 2; seen[c.Name]; n++ {
			c.Name = fmt.Sprintf("%s, %d", name, n)
		}
		seen[c.Name] = true
	}
}

// words for a choice among others.
func (c Choice) words(among []Choice) string {
	name := "wiring " + c.Wiring
	if c.Wiring == "" {
		name = "a chain whose file cannot be read"
	}
	if slices.ContainsFunc(among, func(other Choice) bool { return !slices.Equal(other.Order, c.Order) }) {
		name += ", order " + strings.Join(c.Order, " → ")
	}
	differing := map[string]any{}
	for field, v := range c.Settings {
		if slices.ContainsFunc(among, func(other Choice) bool { return encoded(other.Settings[field]) != encoded(v) }) {
			differing[strings.TrimPrefix(field, "chain.")] = v
		}
	}
	if len(differing) > 0 {
		name += ", " + experiment.Describe(differing)
	}
	return name
}
