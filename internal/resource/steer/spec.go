// Package steer has what comes in at a port of the forwarder go on to the next node of the
// chain, by a program at the port. The port's interface holds the program, and the program
// its maps: they go with it, and all that is to be known is read from there.
package steer

import (
	"fmt"

	bpf "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// KindName of programs at ports in a plan.
const KindName = "steer"

// What holds the program of an interface.
const (
	TCX    = "tcx"    // Linux 6.6 and newer
	Clsact = "clsact" // a classifier of tc(8)
)

// Spec of the program at a port, in whose namespace it is.
type Spec struct {
	Device string `json:"device"`
	// To is the port behind which the next node is.
	To string `json:"to"`
	// Hook is TCX or Clsact.
	Hook string `json:"hook"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the port.
func (s Spec) Key() string { return s.Device }

// Fingerprint is where packets go, and which program sends them there.
func (s Spec) Fingerprint() string { return fingerprint(s.To, s.Hook, Name) }

func fingerprint(to, hook, program string) string {
	return fmt.Sprintf("to %s, by %s at %s", to, program, hook)
}

// Commands implements resource.Spec: tc(8) loads no program that it is not given as a file.
func (Spec) Commands(string) []resource.Command { return nil }

// Mark begins the names of all programs of nfchain's.
const Mark = "nfchain_"

// Name of this version's program.
var Name = held.Name(Mark, bpf.Object())
