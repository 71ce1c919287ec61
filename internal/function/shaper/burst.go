package shaper

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/qdisc"
)

// Burst is a size, or "max".
type Burst string

// longest is the burst that is as large as it can be.
const longest Burst = "max"

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found by
// [Options.Validate].
func (b *Burst) UnmarshalText(text []byte) error {
	*b = Burst(text)
	return nil
}

func (o *Options) checkBurst(add func(path, format string, args ...any), path string, burst Burst, rate api.Rate) {
	if burst == "" || burst == longest {
		return
	}
	size, err := api.ParseSize(string(burst))
	if err != nil {
		add(path, "%s, or max", err)
		return
	}
	most := qdisc.Longest(o.Discipline, uint64(rate))
	if rate >= minRate && most > 0 && uint64(size) > most {
		add(path, "a burst of %s at this rate is at most %d bytes, because it is kept as a time", o.Discipline, most)
	}
}

// minBurst is two of the largest segments that the kernel makes.
const minBurst = 128 << 10

// burst in bytes: as given, or 1 ms at the rate and at least two segments, as far
// as the discipline can have it.
func (o *Options) burst(given Burst, rate api.Rate) uint64 {
	most := qdisc.Longest(o.Discipline, uint64(rate))
	bytes := min(max(uint64(rate)/8/1000, minBurst), most)
	if given == longest {
		bytes = most
	} else if size, err := api.ParseSize(string(given)); err == nil {
		bytes = uint64(size)
	}
	return qdisc.Burst(uint64(rate), bytes)
}
