// Package opens has flows be known to be a replica's that its program opens, as a proxy does, or to which it gives other
// addresses: all that comes from the replica, in the table of flows that the ports have which face its function, so that
// answers come back to it. The replica's ports hold the programs, and all that is to be known is read from there.
package opens

import (
	"fmt"

	bpf "nfchain.dev/nfchain/bpf/opens"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// KindName of such programs in a plan.
const KindName = "opens"

// Spec of the program at a port behind a replica.
type Spec struct {
	Device string `json:"device"`
	// Of is the function, Replica its number among those of that, and Flows how many are known of all.
	Of      string `json:"of"`
	Replica int    `json:"replica"`
	Flows   uint32 `json:"flows"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the port.
func (s Spec) Key() string { return s.Device }

// Fingerprint is whose flows they are, and by which program.
func (s Spec) Fingerprint() string {
	return fingerprint(uint32(s.Replica), steer.WantedTable(s.Of, s.Flows), name)
}

func fingerprint(replica uint32, table, program string) string {
	return fmt.Sprintf("replica %d in %s, by %s", replica, table, program)
}

// Commands implements resource.Spec: only nfchain has the program.
func (Spec) Commands(string) []resource.Command { return nil }

// name of this version's program.
var name = held.Name(held.OpensMark, bpf.Object())
