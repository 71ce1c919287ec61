package steer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Most replicas that packets are shared out over.
const Most = api.MostReplicas

// Among says that packets go to several replicas of a function: those of one flow, both ways,
// to the same one.
type Among struct {
	// Of is the function. All ports that face it know of the same flows.
	Of       string    `json:"of"`
	Replicas []Replica `json:"replicas"`
	// Flows that are known at once. Of more, those not seen for longest are forgotten: they
	// go where a new flow would.
	Flows uint32 `json:"flows"`
	// Idle is a flow that had no packet for so long: it needs its replica no longer.
	Idle api.Duration `json:"idle"`
}

// Replica is one of them.
type Replica struct {
	// Number from 1 to Most, which stays while others come and go.
	Number int `json:"number"`
	// Port behind which it is.
	Port string `json:"port"`
	// Weight: its part of the new flows is as large as that is among all weights. One of 0 gets none, and keeps those that it has, unless
	// all others fail.
	Weight int `json:"weight"`
}

// SpreadName of this version's program that chooses among replicas.
var SpreadName = held.Name(Mark, spread.Object())

// tablePrefix begins the names of the tables of flows.
const tablePrefix = "flows_"

// table of a function's flows, as the kernel knows it: as much of a sum of the name as there
// is room for.
func table(of string) string {
	sum := sha256.Sum256([]byte(of))
	return tablePrefix + hex.EncodeToString(sum[:4])
}

// pastText says where packets go, and that those are replicas where they are led past that.
func pastText(to, among string) string {
	if to == "" {
		return among
	}
	return to + ", and past it " + among
}

func (a Among) text() string {
	ports := map[int]string{}
	for _, r := range a.Replicas {
		ports[r.Number] = r.Port
	}
	return amongText(ports, sharesOf(a.Replicas), table(a.Of), a.Flows)
}

// amongText says all that the kernel knows of replicas: their ports, which of them new flows
// go to, and the table of those that are known.
func amongText(ports map[int]string, shares [buckets]byte, table string, flows uint32) string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(ports)) {
		all = append(all, fmt.Sprintf("%s (%d)", ports[n], n))
	}
	sum := sha256.Sum256(shares[:])
	return fmt.Sprintf("one of %s, shared as %s, with %d in %s", strings.Join(all, " "), hex.EncodeToString(sum[:4]), flows, table)
}
