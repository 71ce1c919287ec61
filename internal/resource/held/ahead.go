package held

import (
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

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

// firstNamed is the first program at tcx of an interface of the thread's namespace with one of some marks; 0 where there is none.
func firstNamed(index int, marks ...string) (ebpf.ProgramID, error) {
	ids, err := AtTCX(index)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		p, err := OpenIf(id, func(name string) bool {
			return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(name, mark) })
		})
		if err != nil {
			return 0, err
		}
		if p != nil {
			p.Close()
			return id, nil
		}
	}
	return 0, nil
}
