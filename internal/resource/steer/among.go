package steer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
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

// Table of a function's flows, with room for so many, that the ports have which face it: a copy, for whoever asks to close. It is called in the ports'
// namespace.
func Table(p resource.Place, of string, flows uint32) (*ebpf.Map, error) {
	name := table(of)
	fits := func(a *attached) bool { return a.Maps[name] != nil && a.Maps[name].MaxEntries() == flows }
	all, err := holders(p, fits)
	defer held.CloseAll(all)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no port of namespace %q has the flows of %s, of %d that are known", p.Ref, of, flows)
	}
	return all[0].Maps[name].Clone()
}

// TableText says which function's flows a program has among its maps, and of how many, if ports have the same table. It is called in the ports'
// namespace.
func TableText(p resource.Place, maps map[string]*ebpf.Map) (string, error) {
	for name, m := range maps {
		if !strings.HasPrefix(name, tablePrefix) {
			continue
		}
		number, err := held.NumberOf(m)
		if err != nil {
			return "", err
		}
		all, err := holders(p, func(a *attached) bool {
			if a.Maps[name] == nil {
				return false
			}
			theirs, err := held.NumberOf(a.Maps[name])
			return err == nil && theirs == number
		})
		held.CloseAll(all)
		if err != nil || len(all) == 0 {
			return "no port", err
		}
		return tableText(name, m.MaxEntries()), nil
	}
	return "none", nil
}

// WantedTable is what TableText says of a function's.
func WantedTable(of string, flows uint32) string { return tableText(table(of), flows) }

func tableText(name string, flows uint32) string { return fmt.Sprintf("%s, with %d", name, flows) }
