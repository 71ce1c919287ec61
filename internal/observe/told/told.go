// Package told reads what programs tell of their work: counters and gauges in Prometheus' text format, in a file of the
// program's own. A program may be anybody's, so the file is looked up as the program sees it, and nothing of it is
// taken that is not of that format, printable, and within bounds.
package told

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nfchain.dev/nfchain/internal/netns"
)

// Told is what a program tells.
type Told struct {
	// File that it tells it in.
	File string `json:"file"`
	// At is when it did; absent where it cannot be read.
	At *time.Time `json:"at,omitempty"`
	// Families of values, in the file's order.
	Families []Family `json:"families"`
	// Error says why it cannot be read; absent where it can.
	Error string `json:"error,omitempty"`
}

// Family is a counter or gauge, with a value for each set of labels.
type Family struct {
	Name string `json:"name"`
	// Type is counter or gauge; unknown where the file does not say.
	Type string `json:"type"`
	// Help says what it is; absent where the file does not.
	Help   string  `json:"help,omitempty"`
	Values []Value `json:"values"`
}

// Value of a family, with the labels that tell it from others.
type Value struct {
	Labels Labels  `json:"labels"`
	Value  float64 `json:"value"`
}

// readsWithin is how long a file may take to be read: its file system may be the program's own.
const readsWithin = 2 * time.Second

// now are the files that are read at this moment.
var now readings

// Read what a process in a namespace tells in a file, which is told where it cannot be read. Nothing, nil, where there is no such file, or no
// such process any more.
func Read(ref string, pid int, file string) *Told {
	o, done := now.read(whose{ref, pid, file}, readsWithin, func() (o outcome) {
		o.text, o.at, o.err = netns.ReadAs(ref, pid, file, mostBytes)
		return o
	})
	if errors.Is(o.err, fs.ErrNotExist) {
		return nil
	}
	t := &Told{File: file, Families: []Family{}}
	families, err := Parse(o.text)
	switch {
	case !done:
		t.Error = fmt.Sprintf("it could not be read within %v", readsWithin)
	case o.err != nil:
		t.Error = o.err.Error()
	case err != nil:
		t.Error = err.Error()
	default:
		t.At, t.Families = &o.at, families
	}
	return t
}
