package feature

import (
	"errors"
	"fmt"
	"strings"
)

// ErrMissing is what every MissingError wraps: this machine lacks something.
var ErrMissing = errors.New("this machine lacks something")

// Lack marks an error that another machine would not have, though what is missing is no
// feature of a name: too few CPUs, or one memory node.
type Lack struct{ error }

// Lacking marks an error as a [Lack].
func Lacking(err error) error { return Lack{err} }

// Unwrap is what is marked.
func (l Lack) Unwrap() error { return l.error }

// NotHere tells errors that lie in the machine, and in nothing that was given.
func NotHere(err error) bool {
	var lack Lack
	return errors.Is(err, ErrMissing) || errors.As(err, &lack)
}

// MissingError names what a machine lacks of what was needed.
type MissingError struct {
	// Features are the absent ones, in the order they were asked for.
	Features []Feature
}

// Error has a line for each feature: its name, why it is absent, how to get it.
func (e *MissingError) Error() string {
	var b strings.Builder
	b.WriteString("this machine lacks what is needed:")
	for _, f := range e.Features {
		fmt.Fprintf(&b, "\n  %s: %s", f.Name, oneLine(f.Why))
		if f.Fix != "" {
			fmt.Fprintf(&b, "; to get it: %s", oneLine(f.Fix))
		}
	}
	return b.String()
}

// Unwrap is ErrMissing.
func (e *MissingError) Unwrap() error { return ErrMissing }

// Missing is nil when all the named features are present, else a *MissingError.
// Only these features are asked for.
func (s Set) Missing(names ...string) error {
	var wanted []*entry
	for _, name := range unique(names) {
		wanted = append(wanted, &entry{name, func() Feature { return s.Get(name) }})
	}
	var absent []Feature
	for _, f := range s.list(wanted) {
		if !f.Present {
			absent = append(absent, f)
		}
	}
	if absent == nil {
		return nil
	}
	return &MissingError{absent}
}

func unique(names []string) []string {
	seen := map[string]bool{}
	var once []string
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			once = append(once, name)
		}
	}
	return once
}

// oneLine joins the lines that a tool printed.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
