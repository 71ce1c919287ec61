package plan

import (
	"fmt"
	"io"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/nsh"
)

// Text is a path for a person.
func (p Path) Text() string {
	if len(p.Functions) == 0 {
		return api.OtherwiseDirect
	}
	if p.Branched {
		return strings.Join(p.Functions, ", ") + ", as branches lead"
	}
	text := strings.Join(p.Functions, " → ")
	switch n := len(p.Visited); {
	case n == 0:
		text += ", and straight back"
	case n < len(p.Functions):
		text += ", and back by " + strings.Join(p.Visited, ", ")
	}
	return text
}

// Whole is that with what headers call the path, if functions on it get any.
func (p Path) Whole() string {
	if p.ServicePath == 0 {
		return p.Text()
	}
	return fmt.Sprintf("%s (service path %d, and %d back)", p.Text(), p.ServicePath, p.ServicePath|nsh.Back)
}

// list the rules and their paths for a person.
func (c *Classifier) list(w io.Writer) {
	for _, r := range c.Choice.Rules[c.Own:] {
		_, _ = fmt.Fprintf(w, "flows of rule %s, %s: %s\n", r.Name, r, c.Path(r.Path).Whole())
	}
	rest := c.OtherwiseText()
	if !c.Choice.Drop {
		rest = c.Path(c.Choice.Otherwise).Whole()
	}
	_, _ = fmt.Fprintf(w, "other flows: %s\n", rest)
}

// OtherwiseText is what becomes of flows that no rule matches, for a person.
func (c *Classifier) OtherwiseText() string {
	if c.Choice.Drop {
		return api.OtherwiseDrop
	}
	return c.Path(c.Choice.Otherwise).Text()
}
