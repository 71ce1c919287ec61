package builtin

import (
	"math/big"
	"time"

	"nfchain.dev/nfchain/bpf/sink"
	"nfchain.dev/nfchain/bpf/source"
)

// What the kernel's half remembers of a stream, as bpf/sink/sink.c has it: words of 32
// packets, whose numbers begin at 2^32.
const (
	wordPackets  = 32
	firstNumber  = 1 << 32
	quietAtLeast = 0.1 // of the time at the lower load, without loss, to say that loss ended
)

// lastLost is the number of the last packet that did not come of those sent.
func lastLost(o *sink.ProgramOrder, sent uint64) (number uint64, lost bool) {
	words := uint64(len(o.Words))
	for n := sent; n > 0; {
		base := (n - 1) / wordPackets * wordPackets
		wide := base + firstNumber
		lap, word := wide/wordPackets/words+1, o.Words[wide/wordPackets%words]
		if word>>32 > lap { // forgotten, but for the last that were lost
			break
		}
		came := uint32(word)
		if word>>32 < lap {
			came = 0
		}
		if missing := highestClear(came, n-base); missing >= 0 {
			return base + uint64(missing), true
		}
		n = base
	}
	if missing := highestClear(^uint32(o.Lost), wordPackets); missing >= 0 {
		return o.LostBase - firstNumber + uint64(missing), true
	}
	return 0, false
}

// highestClear bit of the lowest n; -1 if they are all set.
func highestClear(bits uint32, n uint64) int {
	for i := int(n) - 1; i >= 0; i-- {
		if bits>>i&1 == 0 {
			return i
		}
	}
	return -1
}

// first and then are the two loads of a pace that turns.
func (p pace) first() pace {
	p.duration = p.second.after
	return p
}

func (p pace) then() pace {
	p.pps, p.duration = p.second.pps, p.duration-p.second.after
	return p
}

// overdue is how long after the turn late packets of before are still sent.
func (p pace) overdue() time.Duration { return min(p.grace(), time.Millisecond) }

// givenUp is how many packets were due before the load turned, and not sent in time.
func (p pace) givenUp(progress *source.ProgramProgress) uint64 {
	if p.second.after == 0 || progress.Turned == 0 {
		return 0
	}
	return p.first().intended() - progress.Turn
}

// dueAfter is when a packet of a periodic load was due, s after the first.
func (p pace) dueAfter(packet uint64) float64 {
	ns := new(big.Int).Mul(p.fineGap(), new(big.Int).SetUint64(packet/p.burst))
	return float64(ns.Rsh(ns, 32).Uint64()) / 1e9
}

// recovery is how long packets were still lost after the load turned, s (RFC 2544
// §26.5); ended tells whether that came to an end.
func (o *outcome) recovery() (after float64, ended bool) {
	n, lost := lastLost(&o.Order, o.Progress.Sent)
	if o.Progress.Turned == 0 {
		return 0, false
	}
	if !lost || n < o.Progress.Turn {
		return 0, true
	}
	then := o.Load.then()
	after = then.dueAfter(n - o.Progress.Turn)
	return after, after <= (1-quietAtLeast)*then.duration.Seconds()
}

// recoveries of all lanes: the longest.
func recoveries(lanes []outcome, m map[string]float64) []string {
	longest := 0.0
	for i := range lanes {
		after, ended := lanes[i].recovery()
		if !ended {
			return []string{"packets were still lost when the trial ended: the chain did not recover in the time at the lower load, and there is no recovery time"}
		}
		longest = max(longest, after)
	}
	m["recovery_s"] = longest
	return nil
}
