package steer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cilium/ebpf"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Stay has the flows that are known stay on the path that they began on when ports are turned.
// All ports of a chain know of the same flows, each with the number of a version of the path,
// and where that leads from there.
type Stay struct {
	// Flows that are known at once. Of more, those not seen for longest are forgotten.
	Flows uint32 `json:"flows"`
	// Idle is a flow that had no packet for so long: it may go another path.
	Idle api.Duration `json:"idle"`
}

// WholeChain is what flows that stay on their path are of, in the place of a function.
const WholeChain = ""

// stayText says where new flows go from a port, and where older ones still do.
func stayText(to string, older []string, flows uint32) string {
	text := fmt.Sprintf("%s, with %d flows that stay", to, flows)
	if len(older) > 0 {
		text += " where they went before: " + strings.Join(older, " ")
	}
	return text
}

// stays is where a program that knows the chain's flows sends packets, in words.
func (a *attached) stays(p resource.Place) (string, error) {
	v, err := a.version()
	if err != nil {
		return "", err
	}
	to := called(p, int(v.ports[v.now]))
	var older []string
	for _, index := range v.ports {
		if name := called(p, int(index)); name != to && !slices.Contains(older, name) {
			older = append(older, name)
		}
	}
	slices.Sort(older)
	return stayText(to, older, a.Maps[table(WholeChain)].MaxEntries()), nil
}

// version of the path at a port: the one that is given to new flows, and where each leads.
type version struct {
	now   int
	ports map[int]uint32
}

func (a *attached) version() (v version, err error) {
	shares, err := a.shares()
	if err != nil {
		return v, err
	}
	v.now = int(shares[0])
	v.ports, err = a.indexes()
	return v, err
}

// begin gives new flows a version.
func begin(shares *ebpf.Map, number int) error {
	all := make([]byte, buckets)
	for i := range all {
		all[i] = byte(number)
	}
	return shares.Put(asPlanned, all)
}

// keepStaying puts a program that knows the chain's flows in the place of what is there,
// unless it is one. What a port that has one is to be turned to is for advance.
func keepStaying(p resource.Place, s Spec, index int, to uint32, old *attached) error {
	if old != nil && old.knows(WholeChain, s.Stay.Flows) {
		return nil
	}
	number := 1
	others, err := elsewhere(p, WholeChain, s.Stay.Flows)
	defer held.CloseAll(others)
	if err == nil && len(others) > 0 {
		var v version
		v, err = others[0].version()
		number = v.now
	}
	if err != nil {
		return err
	}
	loaded, err := loadSpread(p, WholeChain, s.Stay.Flows, old)
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	if err := errors.Join(loaded.Next.Put(uint32(0), uint32(Replicas)), loaded.Replicas.Put(uint32(number), to)); err != nil {
		return err
	}
	if err := begin(loaded.Shares, number); err != nil {
		return err
	}
	return hooks[s.Hook].put(p, index, loaded.Spread, old.program())
}

// advance to the next version of the path, if ports are to be turned: first all ports of the
// chain know it, then they give it to new flows. A flow has one version at all of them, so
// none of its packets goes round or past a function meanwhile. Versions before it are
// forgotten, unless they are to be left: their flows then have the new one.
func (k Kind) advance(p resource.Place, changes []resource.Change) error {
	to, flows, err := turned(p, changes)
	if err != nil || len(to) == 0 {
		return err
	}
	all, err := elsewhere(p, WholeChain, flows)
	defer held.CloseAll(all)
	if err != nil {
		return err
	}
	versions := make([]version, len(all))
	for i, a := range all {
		if versions[i], err = a.version(); err != nil {
			return failed(p, a.port, err)
		}
	}
	if err := turnAll(p, all, versions, to); err != nil || k.Leave {
		return err
	}
	for _, a := range all {
		if err := a.forget(); err != nil {
			return failed(p, a.port, err)
		}
	}
	return nil
}

// turned are the ports that changes turn where flows stay, and the ports that they lead to.
func turned(p resource.Place, changes []resource.Change) (to map[string]uint32, flows uint32, err error) {
	to = map[string]uint32{}
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || s.Stay == nil {
			continue
		}
		next, err := indexes(p, []string{s.To})
		if err != nil {
			return nil, 0, err
		}
		to[s.Device], flows = next[0], s.Stay.Flows
	}
	return to, flows, nil
}

// turnAll ports by a new version of the path, unless each leads where it should.
func turnAll(p resource.Place, all []*attached, versions []version, to map[string]uint32) error {
	turns := false
	for i, a := range all {
		next, told := to[a.port]
		v := versions[i]
		// Who was killed on the way left ports with different versions.
		turns = turns || told && next != v.ports[v.now] || v.now != versions[0].now
	}
	if !turns {
		return nil
	}
	number := unused(versions)
	for i, a := range all {
		next, told := to[a.port]
		if !told {
			next = versions[i].ports[versions[i].now]
		}
		if err := a.Maps[replicasMap].Put(uint32(number), next); err != nil {
			return failed(p, a.port, err)
		}
	}
	for _, a := range all {
		if err := begin(a.Maps[sharesMap], number); err != nil {
			return failed(p, a.port, err)
		}
	}
	return nil
}

// unused is a number that no version has at any port; where all are in use, the one after
// the newest.
func unused(versions []version) int {
	taken, newest := map[int]bool{}, 0
	for _, v := range versions {
		newest = max(newest, v.now)
		for n := range v.ports {
			taken[n] = true
		}
	}
	for i := range Most {
		if n := (newest+i)%Most + 1; !taken[n] {
			return n
		}
	}
	return newest%Most + 1
}

// forget all versions of the path but the one that new flows get.
func (a *attached) forget() error {
	v, err := a.version()
	for n := range v.ports {
		if n != v.now && err == nil {
			err = a.Maps[replicasMap].Put(uint32(n), uint32(0))
		}
	}
	return err
}
