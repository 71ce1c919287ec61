// Package nsh has a function get every frame whole behind a Network Service Header (RFC 8300),
// and give it back so: a program at the function's interface puts the header on, and one at the
// port behind another interface of it takes it off and drops what does not belong there. An
// interface holds its program, and the program its maps: they go with it.
package nsh

import (
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"

	bpf "nfchain.dev/nfchain/bpf/nsh"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The kinds of the programs in a plan.
const (
	PushKindName = "nsh-push"
	PopKindName  = "nsh-pop"
)

// EtherType of frames with the header (RFC 8300 §7).
const EtherType = 0x894f

// Length of what is put before a frame, bytes: Ethernet, and NSH without metadata.
const Length = 14 + 8

// FixedContext is the type of metadata (RFC 8300 §2.4) of which there are 16 bytes.
const (
	FixedContext  = 1
	contextLength = 16
)

// tags are the bytes of two VLAN tags, which a frame may have besides its packet.
const tags = 8

// RoomFor is by how much longer packets may be at an interface where frames have something put before them, by the type of metadata: these are
// no tagged frames any more, whose tags an interface allows for by itself.
func RoomFor(mdType int) int { return LengthOf(mdType) + tags }

// LengthOf what is put before a frame, by the type of metadata; 0 is none.
func LengthOf(mdType int) int {
	if mdType == FixedContext {
		return Length + contextLength
	}
	return Length
}

// Most that a service path can be called, and a frame have ahead of it: the number of a path has 24
// bits, of which the first says that it leads back, and the service index begins with 255.
const (
	MostPath   = 1<<23 - 1
	FirstIndex = 255
	Back       = 1 << 23
)

// Hop is a place on a service path (RFC 7665 §1.4).
type Hop struct {
	// Path is the service path identifier.
	Path uint32 `json:"service_path"`
	// Index is the service index that a function gets there; it gives back one less.
	Index uint8 `json:"service_index"`
}

func (h Hop) text() string { return fmt.Sprintf("path %d, index %d", h.Path, h.Index) }

// OnPath is a hop of one of several paths, which ports know by a number, from 1 on.
type OnPath struct {
	Number int `json:"number"`
	Hop
}

func (p OnPath) text() string { return fmt.Sprintf("%d is %s", p.Number, p.Hop.text()) }

// texts of several paths, in words: nothing where there are none.
func texts(on []OnPath) string {
	if len(on) == 0 {
		return ""
	}
	all := make([]string, len(on))
	for i, p := range on {
		all[i] = p.text()
	}
	slices.Sort(all)
	return ", and by paths: " + strings.Join(all, "; ")
}

// Push is what an interface puts before all that it takes in.
type Push struct {
	Device string `json:"device"`
	Hop
	// On are the hops of several paths, of what the port behind the interface says a path of; none where there is one path,
	// which is also that of what it says none of.
	On []OnPath `json:"on,omitempty"`
	// MDType is [FixedContext] where there is metadata, all 0.
	MDType int `json:"md_type,omitempty"`
	// From and To are the addresses of the frame around: To is the interface's own.
	From string `json:"from"`
	To   string `json:"to"`
}

// Kind implements resource.Spec.
func (Push) Kind() string { return PushKindName }

// Key is the interface.
func (s Push) Key() string { return s.Device }

// Fingerprint is the header, and which program puts it on.
func (s Push) Fingerprint() string {
	return pushText(s.Hop, s.On, s.MDType, s.From, s.To, name)
}

func pushText(h Hop, on []OnPath, mdType int, from, to, program string) string {
	context := ""
	if mdType == FixedContext {
		context = ", with a context header"
	}
	return fmt.Sprintf("push %s%s%s, from %s to %s, by %s", h.text(), context, texts(on), from, to, program)
}

// Commands implements resource.Spec: no command loads the program.
func (Push) Commands(string) []resource.Command { return nil }

// The base header: version 0, a hop limit of 63, metadata of type 2, of which there is none, unless it is
// asked for, before an Ethernet frame.
const (
	hopLimit   = 63
	noMetadata = 2
	nextFrame  = 3
)

// header is what comes before a frame at a hop.
func (s Push) header(at Hop) (h bpf.ProgramHeader, err error) {
	to, err := net.ParseMAC(s.To)
	if err != nil {
		return h, err
	}
	from, err := net.ParseMAC(s.From)
	if err != nil {
		return h, err
	}
	b := binary.BigEndian.AppendUint16(append(append([]byte{}, to...), from...), EtherType)
	length, mdType := LengthOf(s.MDType), byte(noMetadata)
	if s.MDType == FixedContext {
		mdType = FixedContext
	}
	b = binary.BigEndian.AppendUint16(b, hopLimit<<6|uint16(length-14)/4)
	b = append(b, mdType, nextFrame)
	b = binary.BigEndian.AppendUint32(b, at.Path<<8|uint32(at.Index))
	h.Length = uint32(length)
	copy(h.Bytes[:], b)
	return h, nil
}

// hopOf a header.
func hopOf(h bpf.ProgramHeader) Hop {
	number := binary.BigEndian.Uint32(h.Bytes[18:])
	return Hop{Path: number >> 8, Index: uint8(number)}
}

// described is the reverse of header.
func described(h bpf.ProgramHeader, on []OnPath, program string) string {
	mdType := 0
	if h.Bytes[16] == FixedContext {
		mdType = FixedContext
	}
	return pushText(hopOf(h), on, mdType, net.HardwareAddr(h.Bytes[6:12]).String(), net.HardwareAddr(h.Bytes[:6]).String(), program)
}

// Pop is what a port takes off all that comes in, and must find there.
type Pop struct {
	Device string `json:"device"`
	// Hop of the path, where there is one.
	Hop
	// On are the hops of several paths, which come back in its stead: the port is told by which one a frame did.
	On []OnPath `json:"on,omitempty"`
}

// Kind implements resource.Spec.
func (Pop) Kind() string { return PopKindName }

// Key is the port.
func (s Pop) Key() string { return s.Device }

// Fingerprint is what must come in, and which program takes it off.
func (s Pop) Fingerprint() string { return popText(s.hops(), name) }

// hops that frames come back from, each with the number of its path, 0 for none.
func (s Pop) hops() []OnPath {
	if len(s.On) > 0 {
		return s.On
	}
	return []OnPath{{Hop: s.Hop}}
}

func popText(on []OnPath, program string) string {
	if len(on) == 1 && on[0].Number == 0 {
		return fmt.Sprintf("pop %s, by %s", on[0].Hop.text(), program)
	}
	return fmt.Sprintf("pop%s, by %s", strings.TrimPrefix(texts(on), ", and"), program)
}

// Commands implements resource.Spec: no command loads the program.
func (Pop) Commands(string) []resource.Command { return nil }

const mark = "nfnsh_"

// name of this version's programs.
var name = held.Name(mark, bpf.Object())
