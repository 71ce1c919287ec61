package steer

import (
	"encoding/binary"
	"fmt"
	"maps"
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
	// Path is the number of the path that all of this is, which what puts headers on is told, beside others whose headers are different;
	// 0 where nothing is told.
	Path uint32 `json:"path,omitempty"`
	// Ways that packets go. The first is the planned one, to the spec's To: what has no label, or
	// is of no flow that is known, goes there.
	Ways []BranchWay `json:"ways"`
	// Among are the functions with replicas that ways lead to, and those to which packets may be led past others that fail.
	Among []Among `json:"among,omitempty"`
	// Flows that are known at once in the whole chain. Of more, those not seen for longest are
	// forgotten.
	Flows uint32 `json:"flows"`
}

// BranchWay leads from a port to another node.
type BranchWay struct {
	// Node that it leads to, by its number too; of replicas their function.
	Node   string `json:"node"`
	Number uint32 `json:"number"`
	// Port that it is behind; "" where it is a function with replicas, which is among those of the branch.
	Port string `json:"port,omitempty"`
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
	own, back, path uint32
	ways            []way
	flows           uint32
}

// constant tells whether two have the same constants.
func (p parting) constant(o parting) bool {
	return p.own == o.own && p.back == o.back && p.path == o.path && slices.Equal(p.ways, o.ways)
}

// way as the program has it; joint is the number of the node there, or 0.
type way struct{ Node, Port, Joint uint32 }

// parting that a port is to have, with the indexes of the ports that its ways lead to.
func (b *Branch) parting(to []uint32) parting {
	p := parting{own: b.Number, path: b.Path, flows: b.Flows}
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
		if ports[i] = w.Port; w.Port == "" {
			ports[i] = table(w.Node)
		}
	}
	var among []string
	for _, a := range b.Among {
		among = append(among, a.text())
	}
	return sharedText(made.text(ports), among)
}

// shared are the functions with replicas that ways lead to, each in its place; "" where one leads to a port.
func (b *Branch) shared() (of []string) {
	for _, w := range b.Ways {
		name := ""
		if w.Port == "" {
			name = w.Node
		}
		of = append(of, name)
	}
	return of
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
	text := fmt.Sprintf("%s from %d by %s, of which %d are known", strings.Join(words, " or "), p.own, by, p.flows)
	if p.path != 0 {
		text += fmt.Sprintf(", all on path %d", p.path)
	}
	return text
}

// parts is where a program sends packets, in words.
func (a *attached) parts(p resource.Place) (string, error) {
	made, err := a.parting()
	if err != nil {
		return "", err
	}
	among, shared, err := a.sharedBy(p)
	if err != nil {
		return "", err
	}
	ports := make([]string, len(made.ways))
	for i, w := range made.ways {
		if seat, is := seatOf(w.Port); is {
			ports[i] = shared[seat]
			continue
		}
		ports[i] = called(p, int(w.Port))
	}
	return sharedText(made.text(ports), among), nil
}

// constantsAt are where a program's constants stand among each other.
var constantsAt = sync.OnceValues(func() (at struct{ ways, own, back, path uint64 }, err error) {
	spec, err := branchObject()
	if err == nil {
		at.ways, at.own, at.back, at.path = spec.Variables["ways"].Offset(), spec.Variables["own"].Offset(), spec.Variables["back"].Offset(), spec.Variables["path"].Offset()
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
	if err != nil || uint64(len(constants)) < max(at.ways, at.own+4, at.back+4, at.path+4) {
		return p, fmt.Errorf("read the constants of program %s: %w", a.Name, err)
	}
	var ways [MostWays]way
	if _, err := binary.Decode(constants[at.ways:], binary.NativeEndian, &ways); err != nil {
		return p, fmt.Errorf("read the ways of program %s: %w", a.Name, err)
	}
	number := func(at uint64) uint32 { return binary.NativeEndian.Uint32(constants[at:]) }
	p.own, p.back, p.path = number(at.own), number(at.back), number(at.path)
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
// that has them. Ways that it had are left to packets that bear their labels, and to answers, while
// there may be such; a node that has gone since is nowhere.
func (k Kind) keepBranch(p resource.Place, s Spec, index int, to []uint32, old *attached) error {
	b := s.Branch
	t, made, err := b.sit(old)
	defer made.close()
	if err != nil {
		return err
	}
	leads, err := k.seat(p, b.Among, b.shared(), t, to)
	if err != nil {
		return err
	}
	wanted, same := b.parting(leads), false
	if old != nil && old.Name == BranchName {
		had, err := old.parting()
		if err != nil {
			return err
		}
		if k.leavesWays() && had.back == wanted.back {
			wanted.ways = append(wanted.ways, left(had.ways, wanted.ways)...)
		}
		same = made == seatMaps{} && had.flows == wanted.flows && had.constant(wanted)
	}
	told := old.told()
	if !same {
		loaded, err := k.loadBranch(p, s.Device, wanted, t, old)
		if err != nil {
			return err
		}
		defer func() { _ = loaded.Close() }()
		if err := hooks[s.Hook].put(p, index, loaded.Branch, old.program()); err != nil {
			return err
		}
		told = loaded.Nodes
	}
	if k.leavesWays() {
		return nil
	}
	return t.vacate(b.Among, told)
}

// leavesWays tells whether ways that are no longer wanted are left to packets with labels from before.
func (k Kind) leavesWays() bool { return k.Leave && !k.Relabelled }

// sit functions with replicas where others sat, or in maps that are made with what was so there: ways lead to
// seats by numbers, which are constants of a program that is yet to be loaded.
func (b *Branch) sit(old *attached) (t seats, made seatMaps, err error) {
	if old != nil && old.Name == BranchName && old.sits(b.Among) {
		return old.seats(), made, nil
	}
	spec, err := branchObject()
	if err != nil {
		return t, made, err
	}
	makeRoom(spec, roomFor(old.needs(b.Among)))
	if made, err = makeSeats(spec); err != nil {
		return t, made, err
	}
	t = made.seats()
	return t, made, t.follow(old)
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

// loadBranch loads this version's program that sends packets on from a port by labels and flows, to functions at these
// seats too. It counts on where another stopped, and knows the flows that other ports know.
func (k Kind) loadBranch(p resource.Place, port string, made parting, t seats, old *attached) (*branch.ProgramObjects, error) {
	spec, err := made.spec()
	if err != nil {
		return nil, err
	}
	o := ebpf.CollectionOptions{MapReplacements: counting(spec, old)}
	if o.MapReplacements[nodesMap] == nil {
		delete(o.MapReplacements, insteadMap) // each says nothing without the other
	}
	makeRoom(spec, t.tables.MaxEntries())
	maps.Copy(o.MapReplacements, t.maps())
	if o.MapReplacements[jointsMap], err = k.common.table(spec.Maps[jointsMap], func() (*ebpf.Map, error) { return jointsOf(p, spec.Maps[jointsMap]) }); err != nil {
		return nil, err
	}
	loaded := &branch.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &o); err != nil {
		return nil, fmt.Errorf("load the program that sends packets on by labels and flows: %w", err)
	}
	err = made.countable(loaded.Aside)
	if err == nil {
		err = k.detours.tell(port, made, loaded, t, o.MapReplacements[nodesMap] != nil)
	}
	if err != nil {
		_ = loaded.Close()
		return nil, err
	}
	return loaded, nil
}

// jointsOf a chain's ports, or those that these begin with.
func jointsOf(p resource.Place, like *ebpf.MapSpec) (*ebpf.Map, error) {
	others, err := portsThat(p, func(a *attached) bool { return a.has(jointsMap, like) })
	defer held.CloseAll(others)
	switch {
	case err != nil:
		return nil, err
	case len(others) > 0:
		return others[0].Maps[jointsMap].Clone()
	}
	return takeOver[branch.ProgramFlow, uint32](p, like)
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
	for name, value := range map[string]any{"ways": ways, "own": p.own, "back": p.back, "path": p.path} {
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

// beforeNode stands with the number of a node where packets are counted that ended before it.
const beforeNode = 1 << 31

// countable has packets counted that go other ways than the planned one, and those that end before a node. Those that went
// where nothing leads any more are forgotten where there is no room.
func (p parting) countable(aside *ebpf.Map) error {
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	none := make([]branch.ProgramCount, cores)
	counted := []uint32{p.ways[0].Node | beforeNode}
	for _, w := range p.ways[1:] {
		counted = append(counted, w.Node, w.Node|beforeNode)
	}
	for _, node := range counted {
		for _, full := range []bool{true, false} {
			var had []branch.ProgramCount
			if aside.Lookup(node, &had) == nil {
				break
			}
			err := aside.Put(node, none)
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
		if !slices.ContainsFunc(p.ways, func(w way) bool { return w.Node == node&^beforeNode }) {
			gone = append(gone, node)
		}
	}
	for _, node := range gone {
		_ = aside.Delete(node)
	}
}
