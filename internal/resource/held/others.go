package held

import (
	"strings"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/resource"
)

// Others tells whether an interface holds programs, or filters, for what it takes in that are none of nfchain's which pass packets on to the next
// or steer them. It is called in the interface's namespace.
func Others(p resource.Place, index int) (bool, error) {
	ids, err := AtTCX(index)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		is := false
		_, err := OpenIf(id, func(name string) bool {
			is = ours(name)
			return false
		})
		if err != nil || !is {
			return err == nil, err
		}
	}
	all, err := clsact{netlink.HANDLE_MIN_INGRESS}.all(p, index)
	for _, f := range all {
		if at, is := f.(*netlink.BpfFilter); !is || !ours(at.Name) {
			return true, err
		}
	}
	return false, err
}

// ours tells whether a program's name is one of nfchain's that steer, or let on what they do not send on.
func ours(name string) bool {
	for _, mark := range []string{ProbeMark, LeadMark, OpensMark, PassMark, FrontMark, KeepMark, SteerMark} {
		if strings.HasPrefix(name, mark) {
			return true
		}
	}
	return false
}
