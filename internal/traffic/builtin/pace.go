package builtin

import (
	"math"
	"math/big"
	"strconv"
	"time"
)

// The patterns in which packets are due.
const (
	periodic = "periodic"
	poisson  = "poisson"
)

// pace says when packets are due.
type pace struct {
	// pps is the mean rate; 0 is as fast as it goes.
	pps float64
	// pattern is periodic or poisson: of packets, or of bursts.
	pattern string
	// burst is how many packets are due at once.
	burst uint64
	// duration of the load.
	duration time.Duration
	second   second
	train    train
}

// gap from one burst to the next: whole nanoseconds, and 2^-32 of one, rounded up, so
// that a second of 1,200 packets a second does not end with one more.
func (p pace) gap() (ns uint64, part uint32) {
	gap := p.fineGap()
	return new(big.Int).Rsh(gap, 32).Uint64(), uint32(gap.Uint64())
}

// fineGap is the gap in 2^-32 ns.
func (p pace) fineGap() *big.Int {
	second := new(big.Int).Lsh(big.NewInt(int64(time.Second)), 32)
	rate, _ := new(big.Rat).SetString(strconv.FormatFloat(p.pps, 'f', -1, 64))
	gap := new(big.Rat).SetInt(second.Mul(second, new(big.Int).SetUint64(p.burst)))
	gap.Quo(gap, rate)
	return quotientUp(gap.Num(), gap.Denom())
}

// intended is how many packets a periodic load is: those due before its end.
func (p pace) intended() uint64 {
	d := new(big.Int).Lsh(big.NewInt(int64(p.duration)), 32)
	return quotientUp(d, p.fineGap()).Uint64() * p.burst
}

// remaining is how many packets are due before stop, when the next is due at a time in
// nanoseconds (and 2^-32 of one), with so many left of its burst. Of a Poisson process
// it is the mean.
func (p pace) remaining(due, part, left, stop uint64) uint64 {
	if p.pps == 0 || due >= stop {
		return 0
	}
	if p.pattern == poisson {
		return left + uint64(float64(stop-due)*p.pps/1e9)/p.burst*p.burst
	}
	span := new(big.Int).Lsh(new(big.Int).SetUint64(stop-due), 32)
	span.Sub(span, new(big.Int).SetUint64(part))
	return left + (quotientUp(span, p.fineGap()).Uint64()-1)*p.burst
}

func quotientUp(a, b *big.Int) *big.Int {
	q, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// grace in which packets that were due are still sent after the load's end, so that
// the last of them may be a little late like any other.
func (p pace) grace() time.Duration {
	return min(p.duration/100, 10*time.Millisecond)
}

// batch is how many frames the kernel sends at once: what is sent waits for the rest
// of its batch, which fast loads need and slow ones would only be late by.
func (p pace) batch() uint32 {
	if p.pps == 0 {
		return maxBatch
	}
	return uint32(min(max(p.pps*batchTime.Seconds(), 1), maxBatch))
}

const (
	maxBatch  = 64
	batchTime = 4 * time.Microsecond
)

// exponentials are quantiles of the exponential distribution of mean 1, times 2^16:
// between two of them lies one of as many equal shares. The last share has no upper
// end; the kernel's half begins the distribution anew there, which has no memory.
func exponentials(cells int) []uint32 {
	q := make([]uint32, cells+1)
	for i := range cells {
		q[i] = uint32(math.Round(-math.Log1p(-float64(i)/float64(cells)) * (1 << 16)))
	}
	q[cells] = q[cells-1]
	return q
}
