package engine

import (
	"crypto/rand"
	"io"
	"strings"
)

// Streams of a command in a container, and what else it is given. In may be nil, which is none, and so may Err where it is written to Out.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Sizes of the terminal that the streams are, whenever it has another; nil where they are none.
	Sizes <-chan Size
	// Named is called before the command can begin, with the name by which [Engine.EndExec] knows it from then on; where it fails none begins.
	// It may be nil.
	Named func(command string) error
	// Begun is called when the command has, which may be noticed a moment later, and not of one that ends before; it may be nil.
	Begun func()
	// Env is what it has in its environment beside the container's.
	Env []string
}

// newCommand is a name for a command that has none of its engine's.
func newCommand() string { return "nfchain-" + strings.ToLower(rand.Text()) }

// Size of a terminal.
type Size struct{ Rows, Columns uint16 }

// Terminal tells that the command is to have one.
func (s Streams) Terminal() bool { return s.Sizes != nil }

// named tells what the command is called.
func (s Streams) named(command string) error {
	if s.Named == nil {
		return nil
	}
	return s.Named(command)
}

// begun tells that the command has.
func (s Streams) begun() {
	if s.Begun != nil {
		s.Begun()
	}
}

// errors are where what it says beside its result goes.
func (s Streams) errors() io.Writer {
	if s.Err == nil {
		return s.Out
	}
	return s.Err
}
