package v1alpha1

import (
	"fmt"
	"strings"
)

// Placement is which CPUs do a chain's work. What is absent, or none, may be done by any
// CPU that nothing else of the chain has to itself.
type Placement struct {
	// Functions are the CPUs that the functions' programs run on. What functions have
	// the kernel do is done in softirqs.
	Functions CPUs `json:"functions,omitzero"`
	// Load are the CPUs that traffic tools run on, those of the built-in generator too.
	Load CPUs `json:"load,omitzero"`
	// Softirqs are the CPUs that handle what the chain's interfaces receive, by receive
	// packet steering. Where none are said it is done where the packet was sent. With
	// threaded_napi the threads that do it are bound there instead.
	Softirqs CPUs `json:"softirqs,omitzero"`
	// NUMA is which memory nodes do the work, with their CPUs and their memory: none
	// (default), which leaves it to the kernel; same, all of it one node; different, neighbours of the path in turn another; or the number of
	// a node, in quotes. Refused where the machine has one.
	NUMA string `json:"numa,omitempty" jsonschema:"pattern=^(none|same|different|[0-9]+)$"`
}

// CPUs says which CPUs do a kind of work: none (default), which leaves it to the kernel,
// "shared: 0,2-3", where all of that kind is done by these together, or exclusive, where
// each function and each end of the chain has a CPU of its own that does nothing else of
// the chain. It is refused where there are too few.
type CPUs struct {
	Exclusive bool
	// Shared is a list as taskset(1) takes it; "" with Exclusive unset is none.
	Shared string
}

// IsPhrase lets a file write "shared: 0-1" without quotes.
func (*CPUs) IsPhrase() {}

const (
	exclusiveCPUs = "exclusive"
	sharedCPUs    = "shared:"
)

// Any tells that it is left to the kernel.
func (c CPUs) Any() bool { return c == CPUs{} }

// String is as it is written in a file.
func (c CPUs) String() string {
	switch {
	case c.Exclusive:
		return exclusiveCPUs
	case c.Shared != "":
		return sharedCPUs + " " + c.Shared
	}
	return None
}

// MarshalText implements encoding.TextMarshaler.
func (c CPUs) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what [CPUs] describes.
func (c *CPUs) UnmarshalText(text []byte) error {
	word := strings.TrimSpace(string(text))
	list, shared := strings.CutPrefix(word, sharedCPUs)
	switch {
	case word == None:
		*c = CPUs{}
	case word == exclusiveCPUs:
		*c = CPUs{Exclusive: true}
	case shared:
		list = strings.TrimSpace(list)
		if _, err := ParseCPUList(list); err != nil {
			return err
		}
		*c = CPUs{Shared: list}
	default:
		return fmt.Errorf("%s does not say which CPUs; write none, exclusive, or shared: 0,2-3", quote(word))
	}
	return nil
}
