// Package capturetest reads captures in tests, by a library that shares no code with what
// writes them.
package capturetest

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/gopacket/gopacket/pcapgo"
)

// Packet is one of a capture.
type Packet struct {
	// Interface is the name of the one that it is at.
	Interface string
	Time      time.Time
	// Length that it had, bytes.
	Length  int
	Data    []byte
	Comment string
	// Outgoing tells the way that its flags say.
	Outgoing bool
}

// File is a capture.
type File struct {
	Section    pcapgo.NgSectionInfo
	Interfaces []pcapgo.NgInterface
	Packets    []Packet
}

// Read a capture, whole.
func Read(tb testing.TB, text []byte) (f File) {
	tb.Helper()
	r, err := pcapgo.NewNgReader(bytes.NewReader(text), pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		tb.Fatal(err)
	}
	for {
		data, info, options, err := r.ReadPacketDataWithOptions()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		i, err := r.Interface(info.InterfaceIndex)
		if err != nil || len(options.Comments) != 1 || options.Flags == nil {
			tb.Fatalf("a packet of interface %d: %+v, %v", info.InterfaceIndex, options, err)
		}
		f.Packets = append(f.Packets, Packet{Interface: i.Name, Time: info.Timestamp, Length: info.Length, Data: data,
			Comment: options.Comments[0], Outgoing: options.Flags.Direction == pcapgo.NgEpbFlagDirectionOutbound})
	}
	f.Section = r.SectionInfo()
	for number := range r.NInterfaces() {
		i, err := r.Interface(number)
		if err != nil {
			tb.Fatal(err)
		}
		f.Interfaces = append(f.Interfaces, i)
	}
	return f
}
