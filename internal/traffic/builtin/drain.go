package builtin

import (
	"time"

	"nfchain.dev/nfchain/bpf/sink"
)

// drain says how long packets that are under way when the load has ended are waited for.
// It is told the time since then and reads no clock.
type drain struct {
	// sent is how many packets there are to come.
	sent uint64
	// limit is how long a packet is waited for beyond what the path always takes.
	limit time.Duration
	// held is how long the path may hold one on purpose.
	held time.Duration
	// bare packets have no numbers that tell copies apart.
	bare bool

	packets uint64
	// came is when the last one did.
	came time.Duration
}

// drainLimit is the limit where nobody asks for another (RFC 2544 §23), drainCopies how long
// nothing must have come to say that no copies are under way (a user-space function on a
// busy machine may not be let run for some tenths of a second), drainQuiet how long to say
// that none came any more when the wait ended, and drainStep how often that is asked.
const (
	drainLimit  = 2 * time.Second
	drainCopies = 500 * time.Millisecond
	drainQuiet  = 100 * time.Millisecond
	drainStep   = 5 * time.Millisecond
)

// over tells whether to wait no more, at a time after the load's end. A path that delays
// every packet delays the last ones too; a queue that grew under the load is no such delay.
func (d *drain) over(now time.Duration, c sink.ProgramCount) bool {
	if c.Packets != d.packets {
		d.packets, d.came = c.Packets, now
	}
	first := c.Packets
	if !d.bare {
		first = firstCopies(c)
	}
	if first >= d.sent && (first == c.Packets || now-d.came >= drainCopies) {
		return true
	}
	return now >= d.limit+max(d.held, lowest(c))
}

// cut tells whether packets still came when the wait ended, although not all had come.
func (d *drain) cut(now time.Duration, c sink.ProgramCount) bool {
	return firstCopies(c) < d.sent && d.packets > 0 && now-d.came < drainQuiet
}

// firstCopies among the packets: each has a latency.
func firstCopies(c sink.ProgramCount) (n uint64) {
	for _, in := range c.Latency {
		n += in
	}
	return n
}

// lowest latency that was seen.
func lowest(c sink.ProgramCount) time.Duration {
	if c.Low == 0 {
		return 0
	}
	return time.Duration(c.Low - 1)
}
