package held

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/resource"
)

// Rank is the turn of a program among nfchain's at an interface: lower ones are run first. At
// clsact it is the priority of the program's filter; one of another priority is somebody else's.
type Rank uint16

// The ranks. What redirects packets to programs of users' (package redirect) is between the
// second and the third.
const (
	// Probes are taken out first, so that nothing counts, changes or sends on one.
	Probes Rank = 7798
	// Leads send on flows that are to take other steps than those behind them. They are between the ranks beside them; at clsact they have the
	// priority of the first, and are put behind it.
	Leads Rank = Probes | between
	// Opens note what flows come from behind the interface. They are between the ranks beside them; at clsact they have the priority of the
	// next, and may come before or behind it.
	Opens Rank = Passes | between
	// Passes take their steps.
	Passes Rank = 7799
	// Fronts send on what those behind them are not to have.
	Fronts Rank = 7809
	// Keeps send on flows that stay where they were. They are between the ranks beside them, where there is no priority: at clsact they
	// have that of the next, whose filters the kernel asks the newest first, and are put there when one of those is there.
	Keeps Rank = Steers | between
	// Steers send on what is left.
	Steers Rank = 7810
	// Throughs hand on what comes in at a function.
	Throughs Rank = 7811
	// Labels are put on what leaves.
	Labels Rank = 7812
)

// between marks a rank that shares its priority at clsact with another.
const between = 1 << 15

// What the names of programs begin with, by which nfchain tells its own.
const (
	ProbeMark   = "nfprobe_"
	LeadMark    = "nflead_"
	OpensMark   = "nfopens_"
	PassMark    = "nfpass_"
	FrontMark   = "nffront_"
	KeepMark    = "nfkeep_"
	SteerMark   = "nfchain_"
	ThroughMark = "nfthru_"
	LabelMark   = "nflabel_"
)

var marks = map[Rank]string{
	Probes: ProbeMark, Leads: LeadMark, Opens: OpensMark, Passes: PassMark, Fronts: FrontMark, Keeps: KeepMark, Steers: SteerMark, Throughs: ThroughMark, Labels: LabelMark,
}

func (r Rank) mark() string { return marks[r] }

// seat at clsact: the priority of the rank's filter, and its handle among those of that.
func (r Rank) seat() (priority uint16, handle uint32) {
	if r&between != 0 {
		return uint16(r &^ between), 2
	}
	return uint16(r), 1
}

// Hook is what holds programs at an interface, for what it takes in or for what it sends. Its methods are called in
// the interface's namespace.
type Hook interface {
	// Programs of a rank, among which may be others', in the order in which they are run.
	Programs(p resource.Place, index int, r Rank) ([]ebpf.ProgramID, error)
	// Put a program at an interface, at once in the place of one of ours, if there is one.
	Put(p resource.Place, index int, r Rank, program, old *ebpf.Program) error
	// Take one of ours away.
	Take(p resource.Place, index int, r Rank, program *ebpf.Program) error
}

// The hooks for what an interface takes in, and those for what it sends, in the order in which the
// kernel asks them.
var (
	TCX    Hook = tcx{}
	Clsact Hook = clsact{netlink.HANDLE_MIN_INGRESS}

	LeavingTCX    Hook = leavingTCX{}
	LeavingClsact Hook = clsact{netlink.HANDLE_MIN_EGRESS}
)

// Find the programs of nfchain's that are of a rank at an interface, in the order in which they
// are run. What others put there is left alone.
func Find(p resource.Place, index int, r Rank) ([]*Program, error) {
	return find([]Hook{TCX, Clsact}, p, index, r, r.marks)
}

// FindCalled finds those of one name alone. Of others the maps are not looked for, which takes longer than all else.
func FindCalled(name string, p resource.Place, index int, r Rank) ([]*Program, error) {
	return find([]Hook{TCX, Clsact}, p, index, r, func(n string) bool { return n == name })
}

func (r Rank) marks(name string) bool { return strings.HasPrefix(name, r.mark()) }

func find(hooks []Hook, p resource.Place, index int, r Rank, called func(name string) bool) (all []*Program, err error) {
	for _, at := range hooks {
		ids, err := at.Programs(p, index, r)
		if err != nil {
			CloseAll(all)
			return nil, err
		}
		for _, id := range ids {
			a, err := OpenAt(p, id, called)
			if err != nil {
				CloseAll(all)
				return nil, err
			}
			if a != nil {
				a.at, a.rank = at, r
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// Put a program at an interface that has none of its rank: at tcx, or at clsact where the kernel
// has no tcx.
func Put(p resource.Place, index int, r Rank, program *ebpf.Program) error {
	if hasTCX() {
		return TCX.Put(p, index, r, program, nil)
	}
	return Clsact.Put(p, index, r, program, nil)
}

// Replace a program that was found at an interface by another, in its place and at once.
func (p *Program) Replace(at resource.Place, index int, by *ebpf.Program) error {
	return p.at.Put(at, index, p.rank, by, p.Program)
}

// Take a program away that was found at an interface.
func (p *Program) Take(at resource.Place, index int) error {
	return p.at.Take(at, index, p.rank, p.Program)
}

// PutFirst puts a program before all others of an interface, those of its rank that were found
// there among them, and then takes these away.
func PutFirst(p resource.Place, index int, r Rank, program *ebpf.Program, found []*Program) error {
	if len(found) > 0 && found[0].at == Clsact {
		return found[0].Replace(p, index, program)
	}
	if err := Put(p, index, r, program); err != nil {
		return err
	}
	for _, old := range found {
		if old.at != TCX {
			continue // it was in the same place
		}
		if err := old.Take(p, index); err != nil {
			return fmt.Errorf("take program %s away: %w", old.Name, err)
		}
	}
	return nil
}

// First is the program that an interface runs first, or at clsact the first one of a rank; 0
// where there is none.
func First(p resource.Place, index int, r Rank) (ebpf.ProgramID, error) {
	ids, err := TCX.Programs(p, index, r)
	if err != nil || len(ids) > 0 {
		return append(ids, 0)[0], err
	}
	all, err := find([]Hook{Clsact}, p, index, r, r.marks)
	defer CloseAll(all)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	info, err := all[0].Info()
	if err != nil {
		return 0, err
	}
	id, _ := info.ID()
	return id, nil
}
