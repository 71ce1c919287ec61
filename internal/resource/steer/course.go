package steer

import (
	"errors"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/versions"
)

// coursesMap has the ways of older versions where those part or come together, at a port where flows stay.
const coursesMap = "courses"

// byCourses stands in the place of a port, as bpf/versions/versions.c has it: a version's packets go by its courses.
const byCourses = Replicas - mostSeats

// course of all packets from a port, as a program there has it that knows one version of the path alone.
type course struct {
	// to is a port, or what stands in the place of one at that program.
	to uint32
	// parts are the ways, where they part or come together.
	parts *parting
}

func (a *attached) course() (c course, err error) {
	if a.Name == BranchName {
		made, err := a.parting()
		return course{parts: &made}, err
	}
	c.to, err = a.next()
	return c, err
}

// Label is what packets bear that leave a function with a mark, from a change on, and what they bore before; 0 is none.
type Label struct{ Now, Was uint32 }

// labelled are the numbers of the nodes that labels lead to by some ways, and that of the planned way.
func (p *parting) labelled() (nodes map[uint32]uint32, planned uint32) {
	nodes = map[uint32]uint32{}
	for _, w := range p.ways {
		nodes[w.Node] = w.Node
	}
	return nodes, p.ways[0].Node
}

// tells whether packets with new labels can be led where they would have gone with those that they had: not where one label stands
// for several of those, or for another by now.
func tells(labels []Label, nodes map[uint32]uint32, planned uint32) bool {
	known := maps.Clone(nodes)
	for _, l := range labels {
		was, is := nodes[l.Was]
		if !is {
			was = planned
		}
		if l.Now == 0 {
			if was != planned {
				return false
			}
			continue
		}
		if now, is := known[l.Now]; is && now != was {
			return false
		}
		known[l.Now] = was
	}
	return true
}

// lay where a version leads by courses of which seats are translated.
func lay(courses *ebpf.Map, version uint32, p parting, at func(port uint32) uint32) error {
	err := clearCourses(courses, version)
	for i, w := range slices.Backward(p.ways) {
		c := program.ProgramCourse{Node: w.Node, Port: at(w.Port), Joint: w.Joint, Own: p.own, Back: p.back}
		err = errors.Join(err, courses.Put(program.ProgramLed{Version: version, Node: w.Node}, c))
		if i == 0 {
			err = errors.Join(err, courses.Put(program.ProgramLed{Version: version}, c))
		}
	}
	return err
}

func clearCourses(courses *ebpf.Map, version uint32) error {
	old, err := coursesOf(courses, version)
	for label := range old {
		if wrong := courses.Delete(program.ProgramLed{Version: version, Node: label}); !errors.Is(wrong, ebpf.ErrKeyNotExist) {
			err = errors.Join(err, wrong)
		}
	}
	return err
}

// coursesOf a version, by labels.
func coursesOf(courses *ebpf.Map, version uint32) (map[uint32]program.ProgramCourse, error) {
	all := map[uint32]program.ProgramCourse{}
	return all, eachOf(courses, func(l program.ProgramLed, c program.ProgramCourse) {
		if l.Version == version {
			all[l.Node] = c
		}
	})
}

// relabel has packets with new labels go where a version leads those that have the former ones.
func relabel(courses *ebpf.Map, version uint32, labels []Label) error {
	known, err := coursesOf(courses, version)
	for _, l := range labels {
		was, is := known[l.Was]
		if !is {
			was = known[0]
		}
		if was.Node == 0 || was.Back != 0 || l.Now == 0 {
			continue
		}
		if _, is := known[l.Now]; !is {
			err = errors.Join(err, courses.Put(program.ProgramLed{Version: version, Node: l.Now}, was))
		}
	}
	return err
}

// wayOf a version from a port where flows stay: another port, or what stands in its place; 0 for nowhere.
func (a *attached) wayOf(version uint32) (to uint32, err error) {
	err = a.Maps[waysMap].Lookup(version, &to)
	return to, err
}

// leadsOn tells whether a version leads on from a port where flows stay, and to which others: of each way all, if it leads to replicas.
// What goes on by the program behind is not told.
func (a *attached) leadsOn(version uint32) (ways [][]uint32, leads bool, err error) {
	to, err := a.wayOf(version)
	switch {
	case err != nil || to == 0:
		return nil, false, err
	case !a.front:
		return [][]uint32{{to}}, true, nil
	case to == behind:
		return nil, true, nil
	case to != byCourses:
		ports, err := a.ends(to)
		return [][]uint32{ports}, true, err
	}
	all, err := coursesOf(a.Maps[coursesMap], version)
	for _, c := range all {
		ports, wrong := a.ends(c.Port)
		ways, err = append(ways, ports), errors.Join(err, wrong)
	}
	return ways, true, err
}
