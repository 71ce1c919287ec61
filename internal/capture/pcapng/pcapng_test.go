package pcapng_test

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/capture/capturetest"
	"nfchain.dev/nfchain/internal/capture/pcapng"
)

// must is for what writes to memory.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// when is a time whose upper half, in ns, is not 0.
var when = time.Date(2026, 11, 22, 3, 4, 5, 123456789, time.UTC)

// TestAnotherReaderReadsIt: packets of all lengths modulo four, with all that is said of
// them and of their interfaces.
func TestAnotherReaderReadsIt(t *testing.T) {
	var b bytes.Buffer
	w, err := pcapng.NewWriter(&b, pcapng.Section{Program: "nfchain", System: "Linux", Comment: "chain edge"})
	must(t, err)
	for number, name := range []string{"fw:eth0:in", "fw:eth0:out"} {
		got, err := w.Add(pcapng.Interface{Name: name, Description: "what is at " + name, Filter: "tcp", Snaplen: 96})
		must(t, err)
		if got != number {
			t.Errorf("interface %s has number %d", name, got)
		}
	}
	must(t, w.Names(map[netip.Addr]string{netip.MustParseAddr("2001:2::1"): "client", netip.MustParseAddr("198.18.0.1"): "client"}))
	must(t, w.Names(nil))
	data := []byte("abcdefgh")
	for n := range 5 {
		must(t, w.Packet(pcapng.Packet{Interface: n % 2, Time: when.UnixNano() + int64(n), Length: uint32(100 + n), Data: data[:n],
			Flags: []pcapng.Flags{pcapng.In | pcapng.ForUs, pcapng.Out}[n%2], Comment: strings.Repeat("c", n+1)}))
	}
	must(t, w.Statistics(1, pcapng.Statistics{Start: when.UnixNano(), End: when.Add(time.Second).UnixNano(), Accepted: 7, Dropped: 2, Delivered: 5}))
	must(t, w.Flush())
	f := capturetest.Read(t, b.Bytes())
	if s := f.Section; s.Application != "nfchain" || s.OS != "Linux" || s.Comment != "chain edge" {
		t.Errorf("%+v", s)
	}
	if len(f.Packets) != 5 || len(f.Interfaces) != 2 {
		t.Fatalf("%+v", f)
	}
	for n, p := range f.Packets {
		want := capturetest.Packet{Interface: f.Interfaces[n%2].Name, Time: when.Add(time.Duration(n)), Length: 100 + n, Data: data[:n], Comment: strings.Repeat("c", n+1), Outgoing: n%2 == 1}
		if p.Interface != want.Interface || !p.Time.Equal(want.Time) || p.Length != want.Length || !bytes.Equal(p.Data, want.Data) || p.Comment != want.Comment || p.Outgoing != want.Outgoing {
			t.Errorf("%+v, want %+v", p, want)
		}
	}
	i := f.Interfaces[1]
	if i.Name != "fw:eth0:out" || i.Description != "what is at fw:eth0:out" || i.Filter != "tcp" || i.SnapLength != 96 || i.TimestampResolution != 9 {
		t.Errorf("%+v", i)
	}
	if s := i.Statistics; !s.StartTime.Equal(when) || !s.EndTime.Equal(when.Add(time.Second)) {
		t.Errorf("%+v", s)
	}
}

// TestFlags are those of the format: the way in the lowest two bits, and whom a packet was
// for above.
func TestFlags(t *testing.T) {
	var b bytes.Buffer
	w, err := pcapng.NewWriter(&b, pcapng.Section{})
	must(t, err)
	must(t, w.Flush())
	before := b.Len()
	must(t, w.Packet(pcapng.Packet{Flags: pcapng.In | pcapng.ForAnother}))
	must(t, w.Flush())
	want := []byte{2, 0, 4, 0, 0b10001, 0, 0, 0} // the option, its length, the flags
	if got := b.Bytes()[before:]; !bytes.Contains(got, want) {
		t.Errorf("% x", got)
	}
}

// full takes nothing.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestWhatCannotBeWritten is told, at the latest when all must be.
func TestWhatCannotBeWritten(t *testing.T) {
	w, err := pcapng.NewWriter(full{}, pcapng.Section{})
	must(t, err)
	must(t, w.Packet(pcapng.Packet{}))
	if err := w.Flush(); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := w.Packet(pcapng.Packet{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}
