package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/capture/pcapng"
)

// begin the file with all that is known before a packet comes.
func (s *session) begin(w io.Writer) (*pcapng.Writer, error) {
	path := strings.Join(s.chain.Path, " > ")
	if len(s.chain.Back) > 0 {
		path += ", and back " + strings.Join(s.chain.Back, " > ")
	}
	out, err := pcapng.NewWriter(w, pcapng.Section{Program: "nfchain", System: system(), Comment: fmt.Sprintf("chain %s, wiring %s: %s", s.chain.Name, s.chain.Wiring, path)})
	if err != nil {
		return nil, err
	}
	for _, r := range s.rings {
		r.comment = r.text(s.chain)
		r.number, err = out.Add(pcapng.Interface{Name: r.Name(), Description: r.comment, Filter: s.options.Filter, Snaplen: s.options.Snaplen})
		if err != nil {
			return nil, err
		}
	}
	names := map[netip.Addr]string{}
	for _, node := range s.chain.Path {
		for _, a := range s.chain.Names[node] {
			names[a] = node
		}
	}
	if err := out.Names(names); err != nil {
		return nil, err
	}
	return out, out.Flush()
}

// system is the kernel's name and version.
func system() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// Name of a point, which is that of its interface in the file: "fw:eth0:in".
func (p Point) Name() string { return p.Hop + ":" + p.Device + ":" + p.direction() }

func (p Point) direction() string {
	if p.Out {
		return "out"
	}
	return "in"
}

// text says in words where a packet was.
func (p Point) text(c Chain) string {
	hop := fmt.Sprintf("hop %d of %d", p.Place+1, len(c.Path))
	if p.Place == NoPlace {
		hop = "hop that is taken out"
	}
	text := fmt.Sprintf("chain %s, %s: %s %s, %s by %s", c.Name, hop, p.Kind, p.Hop, p.direction(), p.Device)
	if p.Way != "" {
		text += ", " + p.Way
	}
	return text
}

// comment of a packet: where it was, and on which path, as far as that is known when it is written. What is behind a header of a
// service function's own has that path's number in it.
func (s *session) comment(p packet) string {
	switch {
	case p.from.Headed:
		return p.from.comment + s.chain.behind(p.data)
	case s.chain.PathOf == nil:
		return p.from.comment
	}
	if path := s.chain.PathOf(p.data); path != "" {
		return p.from.comment + ", on path " + path
	}
	return p.from.comment
}

// The bytes of a frame where a Network Service Header behind Ethernet tells its service path (RFC 8300 §2.3).
const (
	typeAt, typeNSH = 12, 0x894f
	pathAt          = 14 + 4
)

// behind says in words which header a packet is behind, if it is behind one.
func (c Chain) behind(data []byte) string {
	if len(data) < pathAt+4 || binary.BigEndian.Uint16(data[typeAt:]) != typeNSH {
		return ""
	}
	header := binary.BigEndian.Uint32(data[pathAt:])
	text := fmt.Sprintf(", service path %d, index %d", header>>8, header&0xff)
	if path := c.ServicePaths[header>>8]; path != "" {
		text += " (" + path + ")"
	}
	return text
}

// write a packet.
func (s *session) write(p packet) error {
	data := p.data[:min(len(p.data), int(s.options.Snaplen))]
	err := s.file.Packet(pcapng.Packet{Interface: p.from.number, Time: p.time, Length: p.length, Data: data, Flags: p.flags, Comment: s.comment(p)})
	if err != nil {
		return fmt.Errorf("write the capture: %w", err)
	}
	p.from.written.Packets++
	p.from.written.Bytes += uint64(p.length)
	if s.written++; s.written == s.options.Count {
		return errEnough
	}
	return nil
}

// end the file with what was counted, and report it.
func (s *session) end() (Report, error) {
	now := time.Now()
	for _, r := range s.rings {
		if err := r.count(); err != nil {
			return Report{}, err
		}
		err := s.file.Statistics(r.number, pcapng.Statistics{Start: s.began.UnixNano(), End: now.UnixNano(), Accepted: r.counted, Dropped: r.dropped, Delivered: r.written.Packets})
		if err != nil {
			return Report{}, fmt.Errorf("write the capture: %w", err)
		}
	}
	if err := s.file.Flush(); err != nil {
		return Report{}, fmt.Errorf("write the capture: %w", err)
	}
	return s.report(now.Sub(s.began)), nil
}
