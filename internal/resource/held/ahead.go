package held

import "github.com/cilium/ebpf/link"

// TakesProbes begins the names of the programs that take probes out of what an interface takes
// in. They come before all others, so that nothing counts, changes or sends on a probe.
const TakesProbes = "nfprobe_"

// Ahead is the place at tcx of a program that comes before all others of an interface of the
// thread's namespace but those that take probes out.
func Ahead(index int) (link.Anchor, error) {
	ids, err := AtTCX(index)
	if err != nil || len(ids) == 0 {
		return link.Head(), err
	}
	first, err := Open(ids[0], TakesProbes)
	if err != nil || first == nil {
		return link.Head(), err
	}
	defer first.Close()
	return link.AfterProgramByID(ids[0]), nil
}
