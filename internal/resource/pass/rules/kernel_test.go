package rules_test

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"os"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/rulestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// connections that the program of the tests has room for.
const connections = 20_000

// loaded is the program of the tests with some tables, and where each begins.
func loaded(t testing.TB, tables ...*rules.Table) (*rulestest.ProgramObjects, []uint32) {
	t.Helper()
	nstest.Require(t, feature.Root, feature.BPFXDP)
	spec, err := rulestest.LoadProgram()
	if err != nil {
		t.Fatal(err)
	}
	memory, at := rules.Join(tables...)
	if err := (pass.Tables{Memory: memory, Connections: connections}).Prepare(spec); err != nil {
		t.Fatal(err)
	}
	var objects rulestest.ProgramObjects
	if err := spec.LoadAndAssign(&objects, nil); err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() { _ = objects.Close() })
	return &objects, at
}

// Where a question has what, from the start of its frame.
const (
	sourceAt, destinationAt, portsAt, protocolAt, sixAt, stateAt = 16, 32, 48, 56, 57, 58
	baseAt, answerAt, slotAt, generationAt                       = 72, 76, 80, 84
	whatAt, idAt, nowAt, foundAt, questionSize                   = 59, 60, 88, 96, 104
)

// question that the program answers.
func question(p rules.Packet, base uint32) []byte {
	q := make([]byte, questionSize)
	put := func(at int, a netip.Addr) {
		if a.Is4() {
			b := a.As4()
			binary.NativeEndian.PutUint64(q[at+8:], uint64(binary.BigEndian.Uint32(b[:])))
			return
		}
		b := a.As16()
		binary.NativeEndian.PutUint64(q[at:], binary.BigEndian.Uint64(b[:8]))
		binary.NativeEndian.PutUint64(q[at+8:], binary.BigEndian.Uint64(b[8:]))
	}
	put(sourceAt, p.Source)
	put(destinationAt, p.Destination)
	binary.NativeEndian.PutUint32(q[portsAt:], uint32(p.SourcePort))
	binary.NativeEndian.PutUint32(q[portsAt+4:], uint32(p.DestinationPort))
	q[protocolAt], q[stateAt] = p.Protocol, byte(p.State)
	if p.Source.Is6() {
		q[sixAt] = 1
	}
	binary.NativeEndian.PutUint32(q[baseAt:], base)
	return q
}

// asks the kernel.
func asks(t testing.TB, program *ebpf.Program, p rules.Packet, base uint32) (rule int, accepted bool) {
	t.Helper()
	_, out, err := program.Test(question(p, base))
	if err != nil {
		t.Fatal(err)
	}
	answer := int32(binary.NativeEndian.Uint32(out[answerAt:]))
	return int(answer >> 1), answer&1 == 1
}

// TestKernelFindsTheSame holds the program to the Go half, in one memory with tables of all sizes.
func TestKernelFindsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	var tables []*rules.Table
	for _, n := range []int{0, 1, 5, 64, 300, 512, 513, 2000, 34_000} {
		tables = append(tables, compiled(t, randomRules(r, n, n%2 == 1), one(r, "accept", "drop")))
	}
	objects, at := loaded(t, tables...)
	for i, table := range tables {
		for range 1000 {
			p := randomPacket(r)
			want, accepts := table.Find(p)
			if got, accepted := asks(t, objects.Judged, p, at[i]); got != want || accepted != accepts {
				t.Fatalf("of %d rules the kernel finds %d, accepted %t, for %+v; want %d, %t", table.Len(), got, accepted, p, want, accepts)
			}
		}
	}
}

// TestKernelFindsLateRules of many.
func TestKernelFindsLateRules(t *testing.T) {
	list := manyRules(10_000)
	table := compiled(t, list, "accept")
	objects, _ := loaded(t, table)
	found := map[int]bool{}
	for i, of := range list {
		p := rules.Packet{Source: of.Source.Addr(), Destination: netip.AddrFrom4([4]byte{172, 16, byte(i), 1}),
			Protocol: 17, SourcePort: 1, DestinationPort: int32(of.DestinationPorts.Last)}
		want, accepts := table.Find(p)
		if got, accepted := asks(t, objects.Judged, p, 0); got != want || accepted != accepts {
			t.Fatalf("the kernel finds %d, accepted %t, for %+v; want %d, %t", got, accepted, p, want, accepts)
		}
		found[want] = true
	}
	if len(found) < 5000 {
		t.Errorf("only %d rules were found", len(found))
	}
}

// TestKernelStandsBrokenTables: what is not a table makes the program give up, whatever is asked.
func TestKernelStandsBrokenTables(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	table := compiled(t, randomRules(r, 600, true), "drop")
	objects, _ := loaded(t, table)
	for range 2000 {
		if _, _, err := objects.Judged.Test(question(randomPacket(r), r.Uint32()>>r.IntN(32))); err != nil {
			t.Fatal(err)
		}
	}
}
