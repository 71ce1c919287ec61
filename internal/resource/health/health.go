// Package health has a chain's supervisor watch over functions that a forwarder sends packets to,
// and lead packets past those that fail. What it knows is in the supervisor; what it does is in
// the forwarder's ports, where it stays when the supervisor is no more: programs that take probes
// out, and where packets go instead of where the plan says.
package health

import (
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
)

// KindName of watching in a plan.
const KindName = "health"

// key is that of the only path of a chain.
const key = "path"

// Spec of what is watched.
type Spec struct {
	process.Path
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key implements resource.Spec.
func (Spec) Key() string { return key }

// Commands implements resource.Spec: only nfchain watches.
func (Spec) Commands(string) []resource.Command { return nil }
