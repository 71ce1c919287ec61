package impair

// What a number is drawn for; each gets numbers of its own.
const (
	forLoss = iota + 1
	forDuplicate
	forReorder
	forJitter
)

// hits tells whether the n-th packet, counted from 1, is picked. It depends on
// nothing else, so that a program that is started again goes on where it was.
func (p Pick) hits(d dice, purpose, n uint64) bool {
	if p.Every > 0 {
		return n%p.Every == 0
	}
	return p.Ratio > 0 && d.draw(purpose, n) < p.Ratio
}

// dice gives every packet of a direction its own random numbers.
type dice struct{ seed uint64 }

// newDice of one direction.
func newDice(seed uint64, way int) dice { return dice{mix(mix(seed) + uint64(way))} }

// draw is a number from 0 to below 1, evenly spread.
func (d dice) draw(purpose, n uint64) float64 {
	return float64(mix(d.seed+mix(n)*2+purpose)>>11) / (1 << 53)
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014, figure 15) on one step of its state.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Dice is where the random numbers of a direction begin, for a program in the kernel that
// draws those for loss as packets' numbers tell: mix(dice + 2*mix(n) + 1) >> 11.
func Dice(seed uint64, way int) uint64 { return newDice(seed, way).seed }
