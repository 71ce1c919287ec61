package capture

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// times of what a queue gives until a moment.
func times(t *testing.T, q *queue, until int64) (all []int64) {
	t.Helper()
	if err := q.release(until, func(p packet) error { all = append(all, p.time); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestQueueGivesInOrderOfTime(t *testing.T) {
	q := &queue{}
	for _, at := range []int64{30, 10, 40, 20} {
		q.add(packet{time: at, data: make([]byte, 5)})
	}
	if got := times(t, q, 9); len(got) != 0 || q.bytes != 20 {
		t.Errorf("%d, %d bytes held", got, q.bytes)
	}
	if got := times(t, q, 30); !slices.Equal(got, []int64{10, 20, 30}) || q.bytes != 5 || len(q.held) != 1 {
		t.Errorf("%d, %d bytes held", got, q.bytes)
	}
	q.add(packet{time: 25}) // too late
	q.add(packet{time: 30})
	if got := times(t, q, math.MaxInt64); !slices.Equal(got, []int64{25, 30, 40}) || q.late != 1 || q.last != 40 {
		t.Errorf("%d, %d late", got, q.late)
	}
}

// TestQueueKeepsTheOrderOfOneTime, which is that of the places along the chain.
func TestQueueKeepsTheOrderOfOneTime(t *testing.T) {
	q := &queue{}
	for n := range uint32(20) {
		q.add(packet{time: 5, length: n})
	}
	next := uint32(0)
	if err := q.release(5, func(p packet) error {
		if p.length != next {
			t.Errorf("%d, want %d", p.length, next)
		}
		next++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestQueueStopsWhereNoMoreIsTaken(t *testing.T) {
	q, full, given := &queue{}, errors.New("full"), 0
	q.add(packet{time: 1})
	q.add(packet{time: 2})
	if err := q.release(2, func(packet) error { given++; return full }); !errors.Is(err, full) || given != 1 {
		t.Errorf("%d, %v", given, err)
	}
}
