package proof

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/net/bpf"

	"nfchain.dev/nfchain/internal/netns/socketfilter"
)

// A marked packet ends with its payload: the nonce, the way it goes, its number,
// and filling. With the filling its frame is between shortest and longest over
// IPv4 and IPv6, TCP with options and UDP, and behind a header of RFC 8300 over Ethernet.
const (
	nonceSize         = 16
	payload           = 200
	shortest, longest = payload + 14 + 20 + 8, payload + 14 + 40 + 60 + 14 + mostNSH
	mostNSH           = 63 * 4 // RFC 8300 §2.2
)

// message is the payload of one marked packet.
func message(nonce []byte, way, number int) []byte {
	m := make([]byte, payload)
	copy(m, nonce)
	m[nonceSize], m[nonceSize+1] = byte(way), byte(number)
	return m
}

// read is the reverse of message, for a whole frame.
func read(frame, nonce []byte) (way, number int, ok bool) {
	if len(frame) < shortest {
		return 0, 0, false
	}
	m := frame[len(frame)-payload:]
	way, number = int(m[nonceSize]), int(m[nonceSize+1])
	return way, number, bytes.Equal(m[:nonceSize], nonce) && way <= reverse && number < rounds
}

// Where a TCP header is in a frame that opens a connection, and how long that
// frame is with the options that Linux gives it.
const (
	header4, header6   = 14 + 20, 14 + 40
	opening4, opening6 = header4 + 40, header6 + 40
	flagsAt            = 13
	synFlag            = 2
)

// opens tells whether a frame opens a TCP connection with one of the ports, and which way
// it goes: to the port, or from it.
func opens(frame []byte, ports ...uint16) (way int, is bool) {
	at := header4
	switch len(frame) {
	case opening6:
		at = header6
	case opening4:
	default:
		return 0, false
	}
	tcp := frame[at:]
	switch {
	case tcp[flagsAt]&synFlag == 0:
	case slices.Contains(ports, binary.BigEndian.Uint16(tcp[2:])):
		return forward, true
	case slices.Contains(ports, binary.BigEndian.Uint16(tcp)):
		return reverse, true
	}
	return 0, false
}

// attach lets only marked packets and those that open TCP connections into a
// packet socket, so that other traffic does not fill it.
func attach(fd int, nonce []byte) error {
	const accept, reject = 12, 13 // places in the program
	skip := func(from, to int) uint8 { return uint8(to - from - 1) }
	return socketfilter.Attach(fd, []bpf.Instruction{
		0:      bpf.LoadExtension{Num: bpf.ExtLen},
		1:      bpf.JumpIf{Cond: bpf.JumpEqual, Val: opening4, SkipTrue: skip(1, 8)},
		2:      bpf.JumpIf{Cond: bpf.JumpEqual, Val: opening6, SkipTrue: skip(2, 10)},
		3:      bpf.JumpIf{Cond: bpf.JumpLessThan, Val: shortest, SkipTrue: skip(3, reject)},
		4:      bpf.ALUOpConstant{Op: bpf.ALUOpSub, Val: payload},
		5:      bpf.TAX{},
		6:      bpf.LoadIndirect{Off: 0, Size: 4},
		7:      bpf.JumpIf{Cond: bpf.JumpEqual, Val: binary.BigEndian.Uint32(nonce), SkipTrue: skip(7, accept), SkipFalse: skip(7, reject)},
		8:      bpf.LoadAbsolute{Off: header4 + flagsAt, Size: 1},
		9:      bpf.Jump{Skip: 1},
		10:     bpf.LoadAbsolute{Off: header6 + flagsAt, Size: 1},
		11:     bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: synFlag, SkipFalse: skip(11, reject)},
		accept: bpf.RetConstant{Val: longest},
		reject: bpf.RetConstant{Val: 0},
	})
}
