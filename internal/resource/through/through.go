// Package through has what comes in at an interface of a function leave by its other one, by a
// program at the interface, before the kernel of the namespace looks at it. The interface holds
// the program, and the program its maps: they go with it, need no process, and all that is to be
// known is read from there.
package through

import (
	"fmt"

	bpf "nfchain.dev/nfchain/bpf/through"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// KindName of programs that pass packets through, in a plan.
const KindName = "through"

// Where packets are passed through.
const (
	// TC is behind the driver, where they are the kernel's already.
	TC = "tc"
	// XDP is in the driver, where they are frames that the kernel has made nothing of yet, and
	// behind it what comes past the driver.
	XDP = "xdp"
)

// Spec of what is at an interface of a function, in whose namespace it is.
type Spec struct {
	Device string `json:"device"`
	// To is the interface that packets leave by.
	To string `json:"to"`
	// Mode is where they are taken: TC or XDP.
	Mode string `json:"mode"`
}

// Both are what passes packets through a namespace, either way.
func Both(namespace, west, east, mode string, needs ...string) []resource.Resource {
	return []resource.Resource{
		resource.New(namespace, Spec{Device: west, To: east, Mode: mode}, needs...),
		resource.New(namespace, Spec{Device: east, To: west, Mode: mode}, needs...),
	}
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is where packets go, and which program sends them there.
func (s Spec) Fingerprint() string {
	behind := fingerprint(s.To, TC, Name)
	if s.Mode == XDP {
		return behind + and + fingerprint(s.To, XDP, Name)
	}
	return behind
}

// and is between what is at an interface.
const and = ", and "

func fingerprint(to, mode, program string) string {
	return fmt.Sprintf("to %s, by %s at %s", to, program, mode)
}

// Commands implements resource.Spec: tc(8) loads no program that it is not given as a file.
func (Spec) Commands(string) []resource.Command { return nil }

// Name of this version's programs.
var Name = held.Name(held.ThroughMark, bpf.Object())
