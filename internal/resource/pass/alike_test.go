package pass

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// reader gives numbers out of bytes, and zeros when there are no more.
type reader struct{ data []byte }

func (r *reader) take(n int) []byte {
	out := make([]byte, n)
	r.data = r.data[copy(out, r.data):]
	return out
}

func (r *reader) byte() byte     { return r.take(1)[0] }
func (r *reader) word() uint32   { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) number() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// step of any kind, with arguments that a validated option can have.
func (r *reader) step(slot uint32) Step {
	switch r.byte() % 9 {
	case 0, 1:
		return NewMark(slot, r.word(), r.word())
	case 2:
		return NewDSCP(slot, r.byte())
	case 3:
		return NewDrop(slot, Share{Every: 1 + r.number()%5})
	case 4:
		return NewDrop(slot, Share{Below: r.number() >> 11, Dice: r.number()})
	case 5, 6:
		return NewLimit(slot, Bucket{
			Rate: LeastRate + r.number()%(MostRate-LeastRate+1)>>(r.byte()%27), Burst: 1 + uint64(r.word())>>(r.byte()%32),
			Per: Per(r.byte() % 4), Bits4: r.byte() % 33, Bits6: r.byte() % 129,
		})
	case 7:
		tap := uint32(r.byte() % MostTaps)
		return NewMirror(slot, Copies{Tap: tap, Ends: asking[askers[tap]], Every: uint32(r.byte() % 4), Version: []uint8{0, 4, 6}[r.byte()%3],
			Protocol: []uint8{0, 0, 6, 17}[r.byte()%4], Port: []uint16{0, 80, 1}[r.byte()%3]})
	}
	return NewCount(slot)
}

func (r *reader) steps() (all []Step) {
	for range r.byte() % (Most + 1) {
		all = append(all, r.step(uint32(len(all))))
	}
	return all
}

// packet of any bytes at all; half of them begin as IP does.
func (r *reader) packet(now *uint64) given {
	kind := r.byte()
	g := given{mark: r.word(), frame: r.take(15 + int(r.byte()))}
	*now += r.number() >> (r.byte() % 64)
	g.now = *now
	if kind&1 != 0 {
		g.segments, g.of = uint32(r.byte()), uint32(r.byte())
	}
	switch kind >> 1 & 3 {
	case 1:
		copy(g.frame, frame(ether(typeIPv4), ipv4(kind>>3, kind, 0, nil, len(g.frame)-34)))
	case 2:
		copy(g.frame, frame(ether(typeIPv6), ipv6(kind>>3, kind, len(g.frame)-54)))
	}
	return g
}

// FuzzPass holds the program in the kernel to the model, whatever the steps and packets.
func FuzzPass(f *testing.F) {
	require(f)
	f.Add([]byte{})
	source := rand.NewChaCha8([32]byte{1})
	for range 4 {
		data := make([]byte, 4096)
		_, _ = source.Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, now := &reader{data}, uint64(0)
		steps := r.steps()
		var packets []given
		for len(r.data) > 0 && len(packets) < 100 {
			packets = append(packets, r.packet(&now))
		}
		alike(t, steps, packets)
	})
}

// TestLikeTheModel runs packets as they come, and some that somebody bent, through steps
// of all kinds.
func TestLikeTheModel(t *testing.T) {
	require(t)
	random := rand.New(rand.NewChaCha8([32]byte{2}))
	bytes := make([]byte, 1<<12)
	for range 16 {
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		steps := (&reader{bytes}).steps()
		now := uint64(random.Uint32())
		var packets []given
		for range 250 {
			now += random.Uint64() >> (36 + random.IntN(28))
			packets = append(packets, anyPacket(random, now))
		}
		alike(t, steps, packets)
	}
}

// anyPacket of a few flows; one of four is damaged.
func anyPacket(random *rand.Rand, now uint64) given {
	g := given{mark: random.Uint32(), now: now}
	tags := [][]uint16{nil, nil, nil, {0x8100}, {0x88a8, 0x8100}, {0x8100, 0x8100, 0x8100}}[random.IntN(6)]
	payload := make([]byte, random.IntN(60))
	protocol := []byte{6, 17, 132, 1, 50, 59, 33}[random.IntN(7)]
	inner := frame(ports(uint16(random.IntN(3)), 80), payload)
	class := byte(random.Uint32())
	if random.IntN(2) == 0 {
		options := make([]byte, 4*random.IntN(11))
		fragment := []uint16{0, 0, 0x4000, 0x2000, 0x2010, 0x0020}[random.IntN(6)]
		g.frame = frame(ether(typeIPv4, tags...), ipv4(protocol, class, fragment, options, len(inner)), inner)
	} else {
		for range random.IntN(4) * random.IntN(4) {
			next := []byte{0, 43, 60, 135}[random.IntN(4)]
			if random.IntN(6) == 0 {
				inner, protocol = frame(fragmentHeader(protocol, uint16(random.IntN(2)), random.IntN(2) == 0), inner), 44
				continue
			}
			inner, protocol = frame(extension(protocol), inner), next
		}
		g.frame = frame(ether(typeIPv6, tags...), ipv6(protocol, class, len(inner)), inner)
	}
	if random.IntN(5) == 0 {
		g.segments, g.of = uint32(random.IntN(40)), 1448
	}
	if at, version := ipOf(g.frame); version != 0 && random.IntN(2) == 0 { // an address beside those that are asked for
		first, length := at+12, 8
		if version == 6 {
			first, length = at+8, 32
		}
		g.frame[first+random.IntN(length)] ^= 1 << random.IntN(8)
	}
	if random.IntN(4) == 0 {
		g.frame[random.IntN(len(g.frame))] ^= 1 << random.IntN(8)
	}
	if random.IntN(8) == 0 {
		g.frame = g.frame[:max(15, random.IntN(len(g.frame)))]
	}
	return g
}
