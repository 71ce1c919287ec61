package procfs

import (
	"strconv"
	"strings"
)

// maxListed bounds what a list may expand to, so that a broken file cannot ask
// for all memory. It is far above the largest kernel's CPU count.
const maxListed = 1 << 16

// List is the numbers a kernel list file names ("0-3,8"), see
// Documentation/admin-guide/cputopology.rst. False when it cannot be read.
func (r Root) List(name string) ([]int, bool) {
	s, ok := r.Text(name)
	if !ok {
		return nil, false
	}
	return ParseList(s)
}

// ParseList expands a kernel list such as "0-3,8".
func ParseList(s string) ([]int, bool) {
	list := []int{}
	for part := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		first, last, ok := parseRange(part)
		if !ok || len(list)+last-first >= maxListed {
			return nil, false
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	return list, true
}

func parseRange(s string) (first, last int, ok bool) {
	from, to, ranged := strings.Cut(s, "-")
	if !ranged {
		to = from
	}
	a, errA := strconv.ParseUint(from, 10, 31)
	b, errB := strconv.ParseUint(to, 10, 31)
	return int(a), int(b), errA == nil && errB == nil && a <= b
}
