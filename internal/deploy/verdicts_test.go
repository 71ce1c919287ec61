package deploy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/bpf/nsh"
	bpf "nfchain.dev/nfchain/bpf/stay"
	"nfchain.dev/nfchain/internal/resource/held"
)

// header marks the programs that put headers on and take them off.
const header = "nfnsh_"

// Verdicts of programs, at traffic control and at XDP.
const (
	saysNext, saysDrop, saysRedirect       = -1, 2, 7
	driverDrops, driverPasses, driverSends = 1, 2, 4
)

// allowed are the verdicts that a program may have.
func (c *configured) allowed() []int32 {
	switch c.mark {
	case held.PassMark:
		return []int32{saysNext, saysDrop}
	case held.SteerMark:
		return []int32{saysRedirect, saysDrop}
	case held.ProbeMark, held.LeadMark, held.FrontMark, held.KeepMark:
		return []int32{saysNext, saysRedirect, saysDrop}
	case held.LabelMark, held.OpensMark:
		return []int32{saysNext}
	case held.ThroughMark:
		if c.Type() == ebpf.XDP {
			return []int32{driverSends}
		}
		return []int32{saysRedirect}
	case header:
		return []int32{driverPasses, driverDrops}
	}
	return nil
}

// wanted are the verdicts that a program is to have had when it has met usual packets, if it acts by what it was told.
func (c *configured) wanted() []int32 {
	switch {
	case c.mark == held.LeadMark, c.mark == held.FrontMark, c.mark == held.KeepMark:
		return []int32{saysNext, saysRedirect}
	case c.puts():
		return []int32{driverPasses}
	case c.mark == held.SteerMark && !c.strict:
		return []int32{saysRedirect}
	}
	return c.allowed()
}

// puts tells whether a program puts headers on.
func (c *configured) puts() bool { return c.Maps["header"] != nil }

// given is a frame, and how it comes.
type given struct {
	frame []byte
	shape byte
	mark  uint32
}

// Shapes of a frame.
const (
	fromFirst  = 1 << iota // it is between the chain's ends
	fromSecond             // and so the other way
	merged                 // the kernel made it of several
	expected               // what takes headers off gets it behind one that the function was given, what puts them on with the number of a path, and what takes probes out as one
	early                  // it comes when flows are looked for that there were before an edit
)

// of a chain: the frame as one of its programs gets it.
func (g given) of(c *configured) []byte {
	f := bytes.Clone(g.frame)
	at, version := framestest.IP(f)
	ends, is := c.ends[version]
	if from := map[byte]int{4: 12, 6: 8}[version]; is && g.shape&(fromFirst|fromSecond) != 0 && len(f) >= at+from+2*len(ends[0]) {
		if g.shape&fromSecond != 0 {
			ends[0], ends[1] = ends[1], ends[0]
		}
		copy(f[at+from:], slices.Concat(ends[0], ends[1]))
	}
	if g.shape&expected == 0 || len(f) < 14 {
		return f
	}
	switch {
	case c.mark == held.ProbeMark:
		return c.probe(f)
	case c.puts():
		return slices.Concat(f[:12], []byte{0x81, 0, 0xff, c.named()}, f[12:])
	case c.mark == header:
		return c.headed(f)
	}
	return f
}

// named is the highest number of a path of which frames are given a header; 0 where paths have none.
func (c *configured) named() byte {
	if c.path != nil {
		return *c.path
	}
	c.path = new(byte)
	for n := range c.Maps["header"].MaxEntries() - 1 {
		var h nsh.ProgramHeader
		if err := c.Maps["header"].Lookup(n+1, &h); err == nil && h.Length != 0 {
			*c.path = byte(n + 1)
		}
	}
	return *c.path
}

// headed is a frame behind a header of one of the function's paths.
func (c *configured) headed(frame []byte) []byte {
	var number uint32
	var p nsh.ProgramPath
	c.Maps["paths"].Iterate().Next(&number, &p)
	return slices.Concat(framestest.Ether(0x894f), []byte{0x0f, 0xc2, 2, 3}, binary.BigEndian.AppendUint32(nil, number<<8|p.Index), frame)
}

// unheaded is what a frame is to become when the header before it is taken off: it is told before it which path it is on, if there are several.
func (c *configured) unheaded(frame []byte) []byte {
	var p nsh.ProgramPath
	if err := c.Maps["paths"].Lookup(binary.BigEndian.Uint32(frame[18:])>>8, &p); err != nil {
		return nil
	}
	frame = frame[14+4*int(frame[15]&63):]
	if p.Number == 0 {
		return frame
	}
	return slices.Concat(binary.NativeEndian.AppendUint32([]byte("nnsh"), p.Number), frame)
}

// Where a probe begins in a frame of IPv4, and where in the probe what is written anew does, and how long it is.
const probeAt, legAt, probeLength = 42, 16, 48

// probe with what a frame has at its end, which comes to the first row of the table: by the frame's length it goes further or not, and has a
// higher number than those before or came already.
func (c *configured) probe(frame []byte) []byte {
	f := append(make([]byte, probeAt+probeLength), frame...)
	f = append(framestest.Ether(0x88b5), f[len(f)-probeAt-probeLength+14:]...)
	if len(frame)&2 == 0 {
		c.probes++
	}
	binary.NativeEndian.PutUint64(f[probeAt:], signature)
	binary.NativeEndian.PutUint64(f[probeAt+8:], c.probes)
	binary.NativeEndian.PutUint64(f[probeAt+legAt+8:], uint64(len(frame)&1)<<32)
	return f
}

// meets a frame: what a program says of it, and what it is then.
func (c *configured) meets(frame []byte, g given) (verdict int32, out []byte, err error) {
	o := ebpf.RunOptions{Data: bytes.Clone(frame), DataOut: make([]byte, len(frame)+64)}
	if c.Type() == ebpf.SchedCLS {
		in := make([]byte, 192) // struct __sk_buff
		binary.NativeEndian.PutUint32(in[8:], g.mark)
		binary.NativeEndian.PutUint32(in[40:], uint32(c.index))
		if g.shape&merged != 0 {
			binary.NativeEndian.PutUint32(in[164:], 2)
			binary.NativeEndian.PutUint32(in[176:], 1448)
		}
		o.Context = in
	}
	if err := c.looks(g.shape&early != 0); err != nil {
		return 0, nil, err
	}
	said, err := c.Run(&o)
	c.said[int32(said)]++
	return int32(said), o.DataOut, err
}

// looks for flows that there were before an edit, or no longer, where flows stay by the program.
func (c *configured) looks(is bool) error {
	m := c.Maps["versions"]
	if m == nil {
		return nil
	}
	var v bpf.ProgramVersions
	if err := m.Lookup(uint32(0), &v); err != nil {
		return err
	}
	if v.Until = 0; is {
		v.Until = math.MaxInt64
	}
	return m.Put(uint32(0), &v)
}

// check what a program makes of a frame.
func (c *configured) check(g given) error {
	frame := g.of(c)
	if !framestest.Runs(frame) {
		return nil
	}
	at, version := framestest.IP(frame)
	well := version != 0 && framestest.Sound(frame[at:], version, g.shape&merged != 0)
	var before, after []byte
	known, err := c.opened()
	if err != nil {
		return err
	}
	if !well {
		if before, err = c.entered(); err != nil {
			return err
		}
	}
	verdict, out, err := c.meets(frame, g)
	if err == nil && !well {
		after, err = c.entered()
	}
	if err == nil {
		err = c.notes(known, well)
	}
	switch {
	case err != nil:
		return err
	case !slices.Contains(c.allowed(), verdict):
		return fmt.Errorf("verdict %d is none of %v", verdict, c.allowed())
	case !bytes.Equal(before, after):
		return fmt.Errorf("a flow is made of what has none: %x, then %x", before, after)
	case !well && c.strict && verdict != saysDrop:
		return fmt.Errorf("verdict %d of what no rule is for", verdict)
	case !c.leaves(frame, out, verdict, g):
		return fmt.Errorf("with verdict %d it became\n%x", verdict, out)
	}
	return nil
}

// leaves tells whether a program left of a frame what it is to leave.
func (c *configured) leaves(frame, out []byte, verdict int32, g given) bool {
	switch {
	case c.mark == held.PassMark:
		return wentOn(frame, out, verdict, g.shape&merged != 0)
	case c.mark == header && verdict == driverPasses && c.puts():
		return bytes.Equal(out, c.behindHeader(frame))
	case c.mark == header && verdict == driverPasses:
		return bytes.Equal(out, c.unheaded(frame))
	case c.mark == held.ProbeMark && verdict == saysRedirect: // all but the leg is as it was
		at := len(frame) - probeLength + legAt
		return len(out) == len(frame) && bytes.Equal(out[:at], frame[:at])
	}
	return bytes.Equal(out, frame)
}

// behindHeader is what a frame is to become when a header is put before it: that of its path, where a tag says which that is, which is left out.
func (c *configured) behindHeader(frame []byte) []byte {
	var h, on nsh.ProgramHeader
	if err := c.Maps["header"].Lookup(uint32(0), &h); err != nil {
		return nil
	}
	if h.Tagged != 0 && binary.BigEndian.Uint16(frame[12:]) == 0x8100 && frame[14] == 0xff {
		if err := c.Maps["header"].Lookup(uint32(frame[15]), &on); err == nil && on.Length != 0 {
			h = on
		}
		frame = slices.Concat(frame[:12], frame[16:])
	}
	return slices.Concat(h.Bytes[:h.Length], frame)
}

// wentOn tells whether a frame came out of inline functions as it may: what is no IP goes on as it is, what is malformed ends, and what is
// well-formed stays so, as long as it was, with checksums that are as right as they were.
func wentOn(frame, out []byte, verdict int32, merged bool) bool {
	at, version := framestest.IP(frame)
	switch {
	case version == 0:
		return verdict == saysNext && bytes.Equal(out, frame)
	case !framestest.Sound(frame[at:], version, merged):
		return verdict == saysDrop && bytes.Equal(out, frame)
	case verdict != saysNext:
		return true
	}
	return len(out) == len(frame) && bytes.Equal(out[:at], frame[:at]) && framestest.Sound(out[at:], version, merged) &&
		slices.Equal(framestest.Sums(frame[at:], version), framestest.Sums(out[at:], version))
}

// entered is what counters say of flows that a program has entered in tables.
func (c *configured) entered() (all []byte, err error) {
	for _, name := range []string{"became", "dealt", "notes", "nat_made", "rules_tallies"} {
		m := c.Maps[name]
		if m == nil || c.mark == header {
			continue
		}
		var each [][]byte
		if err := m.Lookup(uint32(0), &each); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, slices.Concat(each...)...)
	}
	return all, nil
}
