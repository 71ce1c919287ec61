package qdisc

import (
	"math"
	"time"
)

// The kernel keeps a burst as the time it takes at the rate, in ticks of 64 ns
// (/proc/net/psched), and whoever gives it one rounds in his own way: tc(8) down to
// a microsecond. Bursts of a multiple of step are told apart for all that.
const (
	tick = 64 * time.Nanosecond
	step = 3 * time.Microsecond
)

// longest burst of each discipline: an HTB keeps its ticks in 32 bits, and some
// kernels a TBF's nanoseconds. What is left of them is for rounding.
var longest = map[string]time.Duration{TBF: 4290 * time.Millisecond, HTB: 274 * time.Second}

// Longest is the largest burst in bytes that a discipline can have at a rate.
func Longest(discipline string, rateBps uint64) uint64 {
	return uint64(longest[discipline].Seconds() * float64(rateBps) / 8)
}

// Burst is the least burst of at least so many bytes that reads back the same,
// whoever rounded it.
func Burst(rateBps, bytes uint64) uint64 {
	g := grain(whole(rateBps / 8))
	return (bytes + g - 1) / g * g
}

// grain is the bytes that leave in a step.
func grain(rate uint64) uint64 {
	return max(1, uint64(math.Ceil(step.Seconds()*float64(rate))))
}

func ticks(rate uint64, bytes uint64) uint32 {
	return uint32(math.Ceil(float64(bytes) / float64(rate) / tick.Seconds()))
}

func fromTicks(rate uint64, n uint32) uint64 {
	g := float64(grain(rate))
	return uint64(math.Round(float64(n)*tick.Seconds()*float64(rate)/g) * g)
}
