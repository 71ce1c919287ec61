package steer_test

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/bpf/stay"
	"nfchain.dev/nfchain/bpf/versions"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// put is to write words into a map's value, below what else is on the stack.
func put(m string, at uint32, words ...uint64) asm.Instructions {
	const key, value = -4, -40
	is := asm.Instructions{asm.StoreImm(asm.RFP, key, int64(at), asm.Word)}
	for i, w := range words {
		is = append(is, asm.LoadImm(asm.R1, int64(w), asm.DWord), asm.StoreMem(asm.RFP, value+int16(8*i), asm.R1, asm.DWord))
	}
	return append(is,
		asm.LoadMapPtr(asm.R1, 0).WithReference(m),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, key),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, value),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call())
}

// turnAmid has versions become others, and where one leads be forgotten, when the program asks what time it is: that is behind where it reads which version
// is the newest, and before it looks up where that leads.
func turnAmid(t *testing.T, p *ebpf.ProgramSpec, then stay.ProgramVersions, forget uint32) {
	t.Helper()
	const name = "amid"
	asks := 0
	for i := range p.Instructions {
		if in := &p.Instructions[i]; in.IsBuiltinCall() && asm.BuiltinFunc(in.Constant) == asm.FnKtimeGetCoarseNs {
			asks++
			in.Src, in.Constant = asm.PseudoCall, -1
			*in = in.WithReference(name)
		}
	}
	if asks == 0 {
		t.Fatal("the program asks for no time")
	}
	amid := append(put("versions", 0, then.Until, then.Idle, then.Since, then.Newest), put("ways", forget, 0)...)
	amid = append(amid, asm.FnKtimeGetCoarseNs.Call(), asm.Return())
	// Programs that tell the kernel of one function's type and line tell it of all.
	amid[0] = amid[0].WithSource(p.Instructions[0].Source())
	amid[0] = btf.WithFuncMetadata(amid[0].WithSymbol(name), &btf.Func{Name: name, Type: &btf.FuncProto{Return: &btf.Int{Name: "unsigned long long", Size: 8}}, Linkage: btf.StaticFunc})
	p.Instructions = append(p.Instructions, amid...)
}

// TestForgottenAmidAPacket: a packet for which a program has read that a version is the newest goes by the next one, if where that leads is forgotten
// before the program looks it up.
func TestForgottenAmidAPacket(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFPeer)
	for name, load := range map[string]func() (*ebpf.CollectionSpec, error){"where ports lead to one": stay.LoadProgram, "where they lead to several": versions.LoadProgram} {
		t.Run(name, func(t *testing.T) {
			spec, err := load()
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []string{"staying", "entered"} {
				spec.Maps[m].MaxEntries = 1 << 10
			}
			leads := stay.ProgramVersions{Idle: uint64(time.Hour), Newest: 1}
			then := leads
			then.Newest = 2
			turnAmid(t, spec.Programs["stay"], then, 1)
			c, err := ebpf.NewCollection(spec)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ways := c.Maps["ways"]
			forgotten := 0
			for kind, frame := range framestest.Usual() {
				if err := c.Maps["versions"].Put(uint32(0), leads); err != nil {
					t.Fatal(err)
				}
				for version, port := range map[uint32]uint32{1: 11, 2: 12} {
					if err := ways.Put(version, port); err != nil {
						t.Fatal(err)
					}
				}
				if got := steered(t, c.Programs["stay"], frame); got != goesOn {
					t.Errorf("%s: the verdict is %d", kind, int32(got))
				}
				var left uint32
				if err := ways.Lookup(uint32(1), &left); err != nil {
					t.Fatal(err)
				}
				if left == 0 { // else it has no flow
					forgotten++
				}
			}
			if forgotten < 8 {
				t.Errorf("where versions lead was forgotten amid %d packets", forgotten)
			}
		})
	}
}
