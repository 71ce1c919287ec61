package held

import "github.com/cilium/ebpf/link"

// Ahead is the place at tcx of a program that comes before all others of an interface of the
// thread's namespace but those that take probes out.
func Ahead(index int) (link.Anchor, error) {
	ids, err := AtTCX(index)
	if err != nil || len(ids) == 0 {
		return link.Head(), err
	}
	first, err := Open(ids[0], ProbeMark)
	if err != nil || first == nil {
		return link.Head(), err
	}
	defer first.Close()
	return link.AfterProgramByID(ids[0]), nil
}
