package health_test

import (
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/held"
)

// TestGoesOnFromEarlier: what a program of an earlier version has seen is kept, whose table has one row and does not say
// which port that is of; a table of another kind is none.
func TestGoesOnFromEarlier(t *testing.T) { onHooks(t, goesOnFromEarlier) }

func goesOnFromEarlier(t *testing.T, p *ports) {
	for size, want := range map[uint32]uint64{24: 41, 8: 0} {
		table, err := ebpf.NewMap(&ebpf.MapSpec{Name: "seen", Type: ebpf.Array, KeySize: 4, ValueSize: size, MaxEntries: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = table.Close() })
		if err := table.Put(uint32(0), []byte{0: 1, 8: 41, 23: 0}[:size]); err != nil {
			t.Fatal(err)
		}
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
			Name: held.ProbeMark + "earlier", Type: ebpf.SchedCLS, License: "GPL",
			Instructions: asm.Instructions{asm.LoadMapPtr(asm.R1, table.FD()), asm.Mov.Imm(asm.R0, -1), asm.Return()},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = program.Close() })
		if err := p.Do(func() error {
			return p.hook.Put(p.place(), int(p.index(t, "port0")), held.Probes, program, nil)
		}); err != nil {
			t.Fatal(err)
		}
		taker := p.take(t, nil)
		if seen := p.table.Seen(p.row); seen.Number != want {
			t.Errorf("from values of %d bytes it goes on with %+v", size, seen)
		}
		taker.Close()
		p.remove(t)
	}
}

// TestEachRowGoesOn where the row of the same place among the port's stopped, and one that there was none of begins.
func TestEachRowGoesOn(t *testing.T) { onHooks(t, eachRowGoesOn) }

func eachRowGoesOn(t *testing.T, p *ports) {
	p.another(t)
	for _, c := range []struct {
		rows []int
		want []uint64
		sees bool
	}{
		{[]int{0, 2}, []uint64{0, 0}, true}, {[]int{1, 3}, []uint64{7, 8}, false},
		{[]int{2}, []uint64{7}, false}, {[]int{0, 1}, []uint64{7, 0}, false},
	} {
		var err error
		if p.table, err = health.NewTable(4, signature); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.table.Close)
		taker, err := p.table.Take(p.place(), "port0", c.rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		taker.Close()
		for i, row := range c.rows {
			if seen := p.table.Seen(row); seen.Number != c.want[i] {
				t.Errorf("rows %v: in row %d is %+v; want number %d", c.rows, row, seen, c.want[i])
			}
			if p.row = row; c.sees {
				p.sees(t, inIPv4, uint64(7+i))
			}
		}
	}
}
