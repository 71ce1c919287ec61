package capture

import (
	"cmp"
	"slices"
	"sort"
)

// queue keeps packets until none that is earlier can come any more.
type queue struct {
	held  []packet
	bytes int
	// last is the time of the latest that went, and late are those that came after later
	// ones had gone.
	last int64
	late uint64
}

func (q *queue) add(p packet) {
	q.held = append(q.held, p)
	q.bytes += len(p.data)
}

// release those of a time and before, in order of time.
func (q *queue) release(until int64, give func(packet) error) error {
	slices.SortStableFunc(q.held, func(a, b packet) int { return cmp.Compare(a.time, b.time) })
	n := sort.Search(len(q.held), func(i int) bool { return q.held[i].time > until })
	for _, p := range q.held[:n] {
		if p.time < q.last {
			q.late++
		}
		q.last = max(q.last, p.time)
		q.bytes -= len(p.data)
		if err := give(p); err != nil {
			return err
		}
	}
	q.held = slices.Delete(q.held, 0, n)
	return nil
}
