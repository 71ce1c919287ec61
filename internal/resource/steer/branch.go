package steer

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Branch is what a port does where ways part or come together: packets go on by their labels, or
// back by the way that their flow came.
type Branch struct {
	// Node behind the port, and the number by which labels and other ports know it.
	Node   string `json:"node"`
	Number uint32 `json:"number"`
	// Back tells that packets go by their flows, and not by labels.
	Back bool `json:"back,omitempty"`
	// Ways that packets go. The first is the planned one, to the spec's To: what has no label, or
	// is of no flow that is known, goes there.
	Ways []BranchWay `json:"ways"`
	// Flows that are known at once in the whole chain. Of more, those not seen for longest are
	// forgotten.
	Flows uint32 `json:"flows"`
}

// BranchWay leads from a port to another node.
type BranchWay struct {
	// Node that it leads to, by its number too, and the port that it is behind.
	Node   string `json:"node"`
	Number uint32 `json:"number"`
	Port   string `json:"port"`
	// Joint tells that others lead there too, so that it has to know which way flows come.
	Joint bool `json:"joint,omitempty"`
}

// MostWays from a port.
const MostWays = 64

// BranchName of this version's program that sends packets on by labels and flows.
var BranchName = held.Name(Mark, branch.Object())

// The maps of that program.
const (
	constantsMap = ".rodata"
	jointsMap    = "joints"
	asideMap     = "aside"
	notesMap     = "notes"
)

// parting is what a program has of a [Branch].
type parting struct {
	own, back uint32
	ways      []way
	flows     uint32
}

// way as the program has it; joint is the number of the node there, or 0.
type way struct{ Node, Port, Joint uint32 }

// parting that a port is to have, with the indexes of the ports that its ways lead to.
func (b *Branch) parting(to []uint32) parting {
	p := parting{own: b.Number, flows: b.Flows}
	if b.Back {
		p.back = 1
	}
	for i, w := range b.Ways {
		made := way{Node: w.Number, Port: to[i]}
		if w.Joint {
			made.Joint = w.Number
		}
		p.ways = append(p.ways, made)
	}
	return p
}

func (b *Branch) text() string {
	ports, made := make([]string, len(b.Ways)), b.parting(make([]uint32, len(b.Ways)))
	for i, w := range b.Ways {
		ports[i] = w.Port
	}
	return made.text(ports)
}

// text says all that the kernel knows of ways, by the names of their ports.
func (p parting) text(ports []string) string {
	var words []string
	for i, w := range p.ways {
		word := fmt.Sprintf("%s (%d", ports[i], w.Node)
		if w.Joint != 0 {
			word += ", a joint"
		}
		words = append(words, word+")")
	}
	by := "labels"
	if p.back != 0 {
		by = "flows"
	}
	return fmt.Sprintf("%s from %d by %s, of which %d are known", strings.Join(words, " or "), p.own, by, p.flows)
}

// parts is where a program sends packets, in words.
func (a *attached) parts(p resource.Place) (string, error) {
	made, err := a.parting()
	if err != nil {
		return "", err
	}
	ports := make([]string, len(made.ways))
	for i, w := range made.ways {
		ports[i] = called(p, int(w.Port))
	}
	return made.text(ports), nil
}

// constantsAt are where a program's constants stand among each other.
var constantsAt = sync.OnceValues(func() (at struct{ ways, own, back uint64 }, err error) {
	spec, err := branchObject()
	if err == nil {
		at.ways, at.own, at.back = spec.Variables["ways"].Offset(), spec.Variables["own"].Offset(), spec.Variables["back"].Offset()
	}
	return at, err
})

// parting that a program of this version has.
func (a *attached) parting() (p parting, err error) {
	at, err := constantsAt()
	if err != nil {
		return p, err
	}
	if a.Maps[constantsMap] == nil || a.Maps[jointsMap] == nil {
		return p, fmt.Errorf("program %s lacks maps", a.Name)
	}
	constants, err := a.Maps[constantsMap].LookupBytes(uint32(0))
	if err != nil || uint64(len(constants)) < max(at.ways, at.own+4, at.back+4) {
		return p, fmt.Errorf("read the constants of program %s: %w", a.Name, err)
	}
	var ways [MostWays]way
	if _, err := binary.Decode(constants[at.ways:], binary.NativeEndian, &ways); err != nil {
		return p, fmt.Errorf("read the ways of program %s: %w", a.Name, err)
	}
	p.own, p.back = binary.NativeEndian.Uint32(constants[at.own:]), binary.NativeEndian.Uint32(constants[at.back:])
	p.flows = a.Maps[jointsMap].MaxEntries()
	for _, w := range ways {
		if w.Node == 0 {
			break
		}
		p.ways = append(p.ways, w)
	}
	return p, nil
}

// keepBranch puts a program that has a spec's ways in the place of what is there, at once, unless
// that has them. Ways that it had are left to packets that bear their labels, and to answers, if
// they are to be left; a node that has gone since is nowhere.
func keepBranch(p resource.Place, s Spec, index int, to []uint32, old *attached, leave bool) error {
	wanted := s.Branch.parting(to)
	if old != nil && old.Name == BranchName {
		had, err := old.parting()
		if err != nil {
			return err
		}
		if leave && had.back == wanted.back {
			wanted.ways = append(wanted.ways, left(had.ways, wanted.ways)...)
		}
		if had.flows == wanted.flows && had.own == wanted.own && had.back == wanted.back && slices.Equal(had.ways, wanted.ways) {
			return nil
		}
	}
	loaded, err := loadBranch(p, wanted, old)
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	return hooks[s.Hook].put(p, index, loaded.Branch, old.program())
}

// left are the ways to nodes that others do not lead to, as many as there is room for.
func left(had, wanted []way) (ways []way) {
	for _, w := range had {
		leads := slices.ContainsFunc(wanted, func(o way) bool { return o.Node == w.Node })
		if !leads && len(wanted)+len(ways) < MostWays {
			ways = append(ways, w)
		}
	}
	return ways
}

// loadBranch loads this version's program that sends packets on by labels and flows. It counts on
// where another stopped, and knows the flows that other ports know.
func loadBranch(p resource.Place, made parting, old *attached) (*branch.ProgramObjects, error) {
	spec, err := made.spec()
	if err != nil {
		return nil, err
	}
	o := ebpf.CollectionOptions{MapReplacements: counting(spec, old)}
	others, err := portsThat(p, func(a *attached) bool { return a.has(jointsMap, spec.Maps[jointsMap]) })
	defer held.CloseAll(others)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		o.MapReplacements[jointsMap] = others[0].Maps[jointsMap]
	}
	loaded := &branch.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &o); err != nil {
		return nil, fmt.Errorf("load the program that sends packets on by labels and flows: %w", err)
	}
	if err := made.countable(loaded.Aside); err != nil {
		_ = loaded.Close()
		return nil, err
	}
	return loaded, nil
}

// spec of the program.
func (p parting) spec() (*ebpf.CollectionSpec, error) {
	spec, err := branchObject()
	if err != nil {
		return nil, err
	}
	if len(p.ways) == 0 || len(p.ways) > MostWays {
		return nil, fmt.Errorf("%d ways part at a port: 1 to %d can", len(p.ways), MostWays)
	}
	var ways [MostWays]way
	copy(ways[:], p.ways)
	for name, value := range map[string]any{"ways": ways, "own": p.own, "back": p.back} {
		if err := spec.Variables[name].Set(value); err != nil {
			return nil, err
		}
	}
	spec.Programs["branch"].Name = BranchName
	spec.Maps[jointsMap].MaxEntries = p.flows
	return spec, nil
}

// joins tells whether a program is this version's and has a table of so many flows.
func (a *attached) joins(flows uint32) bool {
	return a.Name == BranchName && a.Maps[jointsMap] != nil && a.Maps[jointsMap].MaxEntries() == flows
}

// countable has packets that go other ways than the planned one counted. Those that went where
// nothing leads any more are forgotten where there is no room.
func (p parting) countable(aside *ebpf.Map) error {
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	none := make([]branch.ProgramCount, cores)
	for _, w := range p.ways[1:] {
		for _, full := range []bool{true, false} {
			var had []branch.ProgramCount
			if aside.Lookup(w.Node, &had) == nil {
				break
			}
			err := aside.Put(w.Node, none)
			if err == nil {
				break
			}
			if !full {
				return fmt.Errorf("count packets by their ways: %w", err)
			}
			p.forget(aside)
		}
	}
	return nil
}

// forget what was counted on ways that there are no more.
func (p parting) forget(aside *ebpf.Map) {
	var gone []uint32
	var node uint32
	var counted []branch.ProgramCount
	for all := aside.Iterate(); all.Next(&node, &counted); {
		if !slices.ContainsFunc(p.ways, func(w way) bool { return w.Node == node }) {
			gone = append(gone, node)
		}
	}
	for _, node := range gone {
		_ = aside.Delete(node)
	}
}
