package builtin

import (
	"sort"

	"nfchain.dev/nfchain/bpf/sink"
)

// orderBook is the order of a stream, as bpf/sink/sink.c keeps it: for sinks outside the
// kernel.
type orderBook struct{ sink.ProgramOrder }

func newOrderBook() *orderBook { return &orderBook{} }

// widen gives a number its upper bits, by the largest seen. Numbers begin at 2^32; the
// first packet stepped over all that are before it.
func (o *orderBook) widen(number uint32) uint64 {
	if o.Begun == 0 {
		o.Begun, o.GapsSeen = 1, 1
		o.First = 1<<32 + uint64(number)
		o.Next = o.First
	}
	return o.Next + uint64(int64(int32(number-uint32(o.Next))))
}

// place a packet in the order. It gives the delay of the one before, and tells whether
// this is a first copy, and numbered next to the one before.
func (o *orderBook) place(sequence uint32, now, delay uint64) (before uint64, fresh, adjacent bool) {
	number := o.widen(sequence)
	if !o.fresh(number) {
		return 0, false, false
	}
	o.First = min(o.First, number)
	if number >= o.Next {
		if number > o.Next {
			g := &o.Gaps[o.GapsSeen%uint64(len(o.Gaps))]
			g.Start, g.Arrival = o.Next, o.Arrivals
			o.GapsSeen++
		}
		o.Next = number + 1
	} else {
		o.late(number)
	}
	adjacent = o.Arrivals > 0 && number == o.Previous+1
	o.heard(now)
	before = o.PreviousDelay
	o.Previous, o.PreviousDelay = number, delay
	o.Arrivals++
	return before, true, adjacent
}

// heard notes that a first copy came.
func (o *orderBook) heard(now uint64) {
	if now <= o.Came {
		return
	}
	if o.Came > 0 {
		o.Silence = max(o.Silence, now-o.Came)
	}
	o.Came = now
}

// fresh tells whether a packet did not come before, and remembers it.
func (o *orderBook) fresh(number uint64) bool {
	words := uint64(len(o.Words))
	lap := number/(32*words) + 1
	word, bit := &o.Words[number/32%words], uint64(1)<<(number%32)
	switch had := *word >> 32; {
	case had > lap:
		o.Stale++
		return false
	case had < lap:
		o.forget(number, lap)
		*word = lap << 32
	}
	if *word&bit != 0 {
		o.Duplicates++
		return false
	}
	*word |= bit
	return true
}

// forget what the word of a number held a lap ago, but for the last numbers that had not
// come by now.
func (o *orderBook) forget(number, lap uint64) {
	words := uint64(len(o.Words))
	base, had := number/wordPackets*wordPackets-words*wordPackets, o.Words[number/wordPackets%words]
	missing := ^uint32(0)
	if had>>32 == lap-1 {
		missing = ^uint32(had)
	}
	if base >= firstNumber && missing != 0 && base >= o.LostBase {
		o.LostBase, o.Lost = base, uint64(missing)
	}
}

// late counts a packet that others with larger numbers came before.
func (o *orderBook) late(number uint64) {
	o.Reordered++
	gaps := uint64(len(o.Gaps))
	oldest := uint64(0)
	if o.GapsSeen > gaps {
		oldest = o.GapsSeen - gaps
	}
	behind := sort.Search(int(o.GapsSeen-oldest), func(i int) bool { return o.Gaps[(oldest+uint64(i))%gaps].Start > number })
	if behind == 0 {
		o.Unknown++
		return
	}
	o.Extent = max(o.Extent, o.Arrivals-o.Gaps[(oldest+uint64(behind)-1)%gaps].Arrival)
}
