// Package nsh has a function get every frame whole behind a Network Service Header (RFC 8300),
// and give it back so: a program at the function's interface puts the header on, and one at the
// port behind another interface of it takes it off and drops what does not belong there. An
// interface holds its program, and the program its maps: they go with it.
package nsh

import (
	"encoding/binary"
	"fmt"
	"net"

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

// Push is what an interface puts before all that it takes in.
type Push struct {
	Device string `json:"device"`
	Hop
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
	return pushText(s.Hop, s.From, s.To, name)
}

func pushText(h Hop, from, to, program string) string {
	return fmt.Sprintf("push %s, from %s to %s, by %s", h.text(), from, to, program)
}

// Commands implements resource.Spec: no command loads the program.
func (Push) Commands(string) []resource.Command { return nil }

// The base header: version 0, a hop limit of 63, two words long, metadata of type 2, of which there
// is none, before an Ethernet frame.
const (
	hopLimit  = 63
	words     = (Length - 14) / 4
	mdType2   = 2
	nextFrame = 3
)

// header is what comes before a frame.
func (s Push) header() (h bpf.ProgramHeader, err error) {
	to, err := net.ParseMAC(s.To)
	if err != nil {
		return h, err
	}
	from, err := net.ParseMAC(s.From)
	if err != nil {
		return h, err
	}
	b := binary.BigEndian.AppendUint16(append(append([]byte{}, to...), from...), EtherType)
	b = binary.BigEndian.AppendUint16(b, hopLimit<<6|words)
	b = append(b, mdType2, nextFrame)
	b = binary.BigEndian.AppendUint32(b, s.Path<<8|uint32(s.Index))
	h.Length = Length
	copy(h.Bytes[:], b)
	return h, nil
}

// described is the reverse of header.
func described(h bpf.ProgramHeader, program string) string {
	number := binary.BigEndian.Uint32(h.Bytes[18:])
	return pushText(Hop{Path: number >> 8, Index: uint8(number)}, net.HardwareAddr(h.Bytes[6:12]).String(), net.HardwareAddr(h.Bytes[:6]).String(), program)
}

// Pop is what a port takes off all that comes in, and must find there.
type Pop struct {
	Device string `json:"device"`
	Hop
}

// Kind implements resource.Spec.
func (Pop) Kind() string { return PopKindName }

// Key is the port.
func (s Pop) Key() string { return s.Device }

// Fingerprint is what must come in, and which program takes it off.
func (s Pop) Fingerprint() string { return popText(s.Hop, name) }

func popText(h Hop, program string) string { return fmt.Sprintf("pop %s, by %s", h.text(), program) }

// Commands implements resource.Spec: no command loads the program.
func (Pop) Commands(string) []resource.Command { return nil }

const mark = "nfnsh_"

// name of this version's programs.
var name = held.Name(mark, bpf.Object())
