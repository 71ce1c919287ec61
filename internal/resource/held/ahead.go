package held

import (
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// ahead is the place at tcx of a program that comes before all others of an interface of the
// thread's namespace but those with one of some marks.
func ahead(index int, marks ...string) (link.Anchor, error) {
	ids, err := AtTCX(index)
	if err != nil {
		return nil, err
	}
	anchor := link.Head()
	for _, id := range ids {
		p, err := openNamed(id, marks)
		if err != nil {
			return nil, err
		}
		if p == nil {
			break
		}
		p.Close()
		anchor = link.AfterProgramByID(id)
	}
	return anchor, nil
}

// openNamed opens a program with one of some marks; nil where it has none.
func openNamed(id ebpf.ProgramID, marks []string) (*Program, error) {
	return OpenIf(id, func(name string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(name, mark) })
	})
}

// firstNamed is the first program at tcx of an interface of the thread's namespace with one of some marks; 0 where there is none.
func firstNamed(index int, marks ...string) (ebpf.ProgramID, error) {
	ids, err := AtTCX(index)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		p, err := openNamed(id, marks)
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
