package profile

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// record is what the kernel wrote: a sample, or a symbol that came to be.
type record struct {
	sample *sample
	symbol *kernelSymbol
}

// sample is one look at a core.
type sample struct {
	pid, tid, cpu uint32
	whom          *whom // nil where no program told
	kernel, user  []uint64
}

// whom is struct whom of bpf/profile/profile.c.
type whom struct{ task, device, softirq, index uint32 }

const headerSize = 8

// header is struct perf_event_header.
type header struct {
	kind uint32
	size uint16
}

func parseHeader(b []byte) header {
	return header{binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint16(b[6:])}
}

// parseRecord hands on what a record tells, and gives how many were lost before it.
func parseRecord(b []byte, take func(record)) (lost uint64) {
	h, r := parseHeader(b), reader{rest: b[headerSize:]}
	switch h.kind {
	case unix.PERF_RECORD_SAMPLE:
		if s := r.sample(); !r.short {
			take(record{sample: s})
		}
	case unix.PERF_RECORD_KSYMBOL:
		if s := r.ksymbol(); !r.short {
			take(record{symbol: s})
		}
	case unix.PERF_RECORD_LOST:
		r.u64() // of which event
		return r.u64()
	}
	return 0
}

// reader takes fields off the front; short is that there were too few.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.rest, r.short = nil, true
		return make([]byte, min(n, 8))
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *reader) u32() uint32 { return binary.NativeEndian.Uint32(r.bytes(4)) }
func (r *reader) u64() uint64 { return binary.NativeEndian.Uint64(r.bytes(8)) }

// sample reads the fields that [sampled] asks for, in the order of
// perf_event_open(2), and what a program added.
func (r *reader) sample() *sample {
	s := &sample{pid: r.u32(), tid: r.u32(), cpu: r.u32()}
	r.u32()
	r.chain(s)
	if len(r.rest) > 0 {
		added := reader{rest: r.bytes(uint64(r.u32()))}
		w := whom{added.u32(), added.u32(), added.u32(), added.u32()}
		if !added.short {
			s.whom = &w
		}
	}
	return s
}

// markers are the least of the values in a call chain that are no addresses but say
// whose follow (enum perf_callchain_context).
const (
	markers      = ^uint64(0) - 4095
	kernelMarker = ^uint64(0) - 128 + 1
	userMarker   = ^uint64(0) - 512 + 1
)

func (r *reader) chain(s *sample) {
	n := r.u64()
	if n > uint64(len(r.rest))/8 {
		r.short = true
		return
	}
	into := new([]uint64) // of a guest, or whatever else
	for range n {
		switch address := r.u64(); {
		case address == kernelMarker:
			into = &s.kernel
		case address == userMarker:
			into = &s.user
		case address >= markers:
			into = new([]uint64)
		default:
			*into = append(*into, address)
		}
	}
}

// ksymbol reads PERF_RECORD_KSYMBOL; nil where a symbol goes away, for what ran it
// has been sampled.
func (r *reader) ksymbol() *kernelSymbol {
	s := &kernelSymbol{address: r.u64(), size: uint64(r.u32())}
	r.u32() // type and flags
	s.name = text(r.rest)
	return s
}

// text up to the first zero.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
