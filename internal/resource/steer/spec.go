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
	// To is the port behind which the next node is; "" where that is one of several.
	To string `json:"to,omitempty"`
	// Among are the replicas of the next function, or of the one behind it, where packets may be led
	// past what is To; nil where it has none.
	Among *Among `json:"among,omitempty"`
	// Stay has flows stay on the path that they began on when the port is turned; nil where all
	// packets then go To at once.
	Stay *Stay `json:"stay,omitempty"`
	// Paths has packets go on by the path that their flow is on; nil where the port has one way. Beside others of
	// these it stands before them, and they are for what is on a path that leads to them.
	Paths *Paths `json:"paths,omitempty"`
	// Branch sends packets on by labels or flows, To among others; nil where all go one way.
	Branch *Branch `json:"branch,omitempty"`
	// Hook is TCX or Clsact.
	Hook string `json:"hook"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the port.
func (s Spec) Key() string { return s.Device }

// Fingerprint is where packets go, and which program sends them there.
func (s Spec) Fingerprint() string {
	if front, rest := s.apart(); front != nil {
		return fingerprint(s.Paths.text(), s.Hook, FrontName) + together + rest.Fingerprint()
	}
	switch {
	case s.Paths != nil:
		return fingerprint(s.Paths.text(), s.Hook, PathsName)
	case s.Branch != nil:
		return fingerprint(s.Branch.text(), s.Hook, BranchName)
	case s.Among != nil:
		return fingerprint(pastText(s.To, s.Among.text()), s.Hook, SpreadName)
	}
	return fingerprint(s.To, s.Hook, Name)
}

// together joins what programs at one port do.
const together = ", and "

// apart is what stands before the rest at a port, and that; nil where nothing does.
func (s Spec) apart() (front, rest *Spec) {
	if s.Paths == nil || s.To == "" && s.Among == nil && s.Branch == nil {
		return nil, &s
	}
	f := Spec{Device: s.Device, Paths: s.Paths, Hook: s.Hook}
	s.Paths = nil
	return &f, &s
}

func fingerprint(to, hook, program string) string {
	return fmt.Sprintf("to %s, by %s at %s", to, program, hook)
}

// Shared are the functions with replicas to which packets may go on from the port.
func (s Spec) Shared() []Among {
	front, rest := s.apart()
	if front != nil {
		s = *rest
	}
	switch {
	case s.Paths != nil:
		return s.Paths.Among
	case s.Branch != nil:
		return s.Branch.Among
	case s.Among != nil:
		return []Among{*s.Among}
	}
	return nil
}

// ports that packets go to, "" where they go on by what is behind the program, and then those of replicas.
func (s Spec) ports() (all []string) {
	switch {
	case s.Paths != nil:
		for _, w := range s.Paths.Ways {
			if w.Of == "" {
				all = append(all, w.Port)
			}
		}
	case s.Branch != nil:
		for _, w := range s.Branch.Ways {
			if w.Port != "" {
				all = append(all, w.Port)
			}
		}
	case s.To != "":
		all = append(all, s.To)
	}
	for _, a := range s.Shared() {
		for _, r := range a.Replicas {
			all = append(all, r.Port)
		}
	}
	return all
}

// Commands implements resource.Spec: tc(8) loads no program that it is not given as a file.
func (Spec) Commands(string) []resource.Command { return nil }

// Mark begins the names of all programs of nfchain's.
const Mark = held.SteerMark

// Name of this version's program.
var Name = held.Name(Mark, bpf.Object())
