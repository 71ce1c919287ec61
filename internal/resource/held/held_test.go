package held_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// place has an interface, and its index.
func place(t *testing.T) (resource.Place, int) {
	t.Helper()
	nstest.Require(t, feature.Root, feature.Veth)
	h := nstest.Open(t, nstest.Namespace(t))
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "far0"}
	if err := h.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	l, err := h.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	return resource.At(h, nstest.Owner(t)), l.Attrs().Index
}

// letting is a program that lets everything go on.
func letting(t *testing.T, name string) *ebpf.Program {
	t.Helper()
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: ebpf.SchedCLS, Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, -1), asm.Return()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func found(t *testing.T, p resource.Place, index int, r held.Rank) (names []string) {
	t.Helper()
	if err := p.Do(func() error {
		all, err := held.Find(p, index, r)
		for _, a := range all {
			names = append(names, a.Name)
		}
		held.CloseAll(all)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

// do something with what is at an interface in its namespace.
func do(t *testing.T, p resource.Place, what func() error) {
	t.Helper()
	if err := p.Do(what); err != nil {
		t.Fatal(err)
	}
}

// lookedAt finds one program of each rank, however often it looks, in a place where nothing is asked twice.
func lookedAt(t *testing.T, p resource.Place, index int, ranks map[held.Rank]string) {
	t.Helper()
	err := resource.Still(p.Handle, p.Owner, nil).Within(func(p resource.Place) error {
		for range 2 {
			for rank, mark := range ranks {
				if names := found(t, p, index, rank); len(names) != 1 || names[0] != mark+"one" {
					t.Errorf("of rank %d are %v", rank, names)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRanks: programs of each rank stand beside each other at both hooks, are told from the others',
// replaced in their place, and go.
func TestRanks(t *testing.T) {
	for needs, hook := range map[string]held.Hook{feature.BPFTCX: held.TCX, feature.BPFClsact: held.Clsact} {
		t.Run(needs, func(t *testing.T) {
			nstest.Require(t, needs)
			p, index := place(t)
			p = resource.Alone(p.Handle, p.Owner)
			ranks := map[held.Rank]string{held.Steers: held.SteerMark, held.Fronts: held.FrontMark, held.Keeps: held.KeepMark, held.Passes: held.PassMark, held.Opens: held.OpensMark, held.Leads: held.LeadMark, held.Probes: held.ProbeMark}
			for rank, mark := range ranks {
				if names := found(t, p, index, rank); len(names) != 0 {
					t.Errorf("of rank %d are %v before any is put there", rank, names)
				}
				do(t, p, func() error { return hook.Put(p, index, rank, letting(t, mark+"one"), nil) })
			}
			lookedAt(t, p, index, ranks)
			for rank, mark := range ranks {
				do(t, p, func() error {
					all, err := held.Find(p, index, rank)
					if err != nil {
						return err
					}
					defer held.CloseAll(all)
					return all[0].Replace(p, index, letting(t, mark+"two"))
				})
				if names := found(t, p, index, rank); len(names) != 1 || names[0] != mark+"two" {
					t.Errorf("of rank %d are %v", rank, names)
				}
			}
			for rank := range ranks {
				do(t, p, func() error {
					all, err := held.Find(p, index, rank)
					if err != nil {
						return err
					}
					defer held.CloseAll(all)
					return all[0].Take(p, index)
				})
				if names := found(t, p, index, rank); len(names) != 0 {
					t.Errorf("of rank %d are left %v", rank, names)
				}
			}
		})
	}
}

// TestKeepsAreBetween those that stand before others and these, whichever of them came first, and when others come in their places.
func TestKeepsAreBetween(t *testing.T) {
	for needs, hook := range map[string]held.Hook{feature.BPFTCX: held.TCX, feature.BPFClsact: held.Clsact} {
		for _, order := range [][]held.Rank{{held.Fronts, held.Keeps}, {held.Keeps, held.Fronts}} {
			t.Run(fmt.Sprintf("%s, %v", needs, order), func(t *testing.T) {
				nstest.Require(t, needs)
				p, index := place(t)
				p = resource.Alone(p.Handle, p.Owner)
				marks := map[held.Rank]string{held.Steers: held.SteerMark, held.Fronts: held.FrontMark, held.Keeps: held.KeepMark}
				were := map[held.Rank]*ebpf.Program{}
				for _, name := range []string{"one", "two"} {
					for _, rank := range append([]held.Rank{held.Steers}, order...) {
						is := letting(t, marks[rank]+name)
						do(t, p, func() error { return hook.Put(p, index, rank, is, were[rank]) })
						were[rank] = is
					}
					var ids []ebpf.ProgramID
					do(t, p, func() error {
						fronts, err := hook.Programs(p, index, held.Fronts)
						if ids = fronts; err == nil && hook == held.Clsact { // those have a priority of their own
							var rest []ebpf.ProgramID
							rest, err = hook.Programs(p, index, held.Steers)
							ids = append(ids, rest...)
						}
						return err
					})
					var names []string
					for _, id := range ids {
						is, err := held.Open(id, "nf")
						if err != nil {
							t.Fatal(err)
						}
						names = append(names, is.Name)
						is.Close()
					}
					if want := []string{held.FrontMark + name, held.KeepMark + name, held.SteerMark + name}; !slices.Equal(names, want) {
						t.Errorf("they are run in the order %v, want %v", names, want)
					}
				}
			})
		}
	}
}

// TestLeadsAreBetween those that take probes out and those that take steps, whichever of them came first.
func TestLeadsAreBetween(t *testing.T) {
	marks := map[held.Rank]string{held.Probes: held.ProbeMark, held.Leads: held.LeadMark, held.Passes: held.PassMark}
	for needs, hook := range map[string]held.Hook{feature.BPFTCX: held.TCX, feature.BPFClsact: held.Clsact} {
		for _, order := range [][]held.Rank{
			{held.Probes, held.Leads, held.Passes}, {held.Passes, held.Leads, held.Probes}, {held.Leads, held.Passes, held.Probes}, {held.Passes, held.Probes, held.Leads},
		} {
			t.Run(fmt.Sprintf("%s, %v", needs, order), func(t *testing.T) {
				nstest.Require(t, needs)
				p, index := place(t)
				p = resource.Alone(p.Handle, p.Owner)
				var ids []ebpf.ProgramID
				do(t, p, func() error {
					for _, rank := range order {
						if err := hook.Put(p, index, rank, letting(t, marks[rank]), nil); err != nil {
							return err
						}
					}
					first, err := hook.Programs(p, index, held.Probes)
					if ids = first; err == nil && hook == held.Clsact { // those that come then have a priority of their own
						var rest []ebpf.ProgramID
						rest, err = hook.Programs(p, index, held.Passes)
						ids = append(ids, rest...)
					}
					return err
				})
				place := map[string]int{}
				for i, id := range ids {
					is, err := held.Open(id, "nf")
					if err != nil {
						t.Fatal(err)
					}
					place[is.Name] = i
					is.Close()
				}
				if len(place) != len(marks) || place[held.LeadMark] > place[held.PassMark] || place[held.ProbeMark] > place[held.LeadMark] || len(ids) != len(marks) {
					t.Errorf("the programs come in the places %v", place)
				}
				do(t, p, func() error {
					first, err := held.First(p, index, held.Probes)
					if err != nil {
						return err
					}
					is, err := held.Open(first, held.ProbeMark)
					if err == nil && is == nil {
						t.Error("the first of those that take probes out is none")
					}
					if is != nil {
						is.Close()
					}
					return err
				})
			})
		}
	}
}

// TestOthersComeMeanwhile: who asks what is at an interface is told, while programs come and go there.
func TestOthersComeMeanwhile(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	p, index := place(t)
	stays, comes := letting(t, held.SteerMark+"stays"), letting(t, held.ProbeMark+"comes")
	do(t, p, func() error { return held.TCX.Put(p, index, held.Steers, stays, nil) })
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		stopped <- p.Do(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				if err := held.TCX.Put(p, index, held.Probes, comes, nil); err != nil {
					return err
				}
				if err := held.TCX.Take(p, index, held.Probes, comes); err != nil {
					return err
				}
			}
		})
	}()
	do(t, p, func() error {
		for range 10_000 {
			ids, err := held.TCX.Programs(p, index, held.Steers)
			if err != nil {
				return err
			}
			if len(ids) < 1 || len(ids) > 2 {
				t.Errorf("there are programs %v", ids)
			}
		}
		return nil
	})
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestLeaving: at both hooks a program for what an interface sends is replaced in its place, and goes, beside
// one for what it takes in.
func TestLeaving(t *testing.T) {
	for needs, hook := range map[string]held.Hook{feature.BPFTCX: held.LeavingTCX, feature.BPFClsact: held.LeavingClsact} {
		t.Run(needs, func(t *testing.T) {
			nstest.Require(t, needs)
			p, index := place(t)
			do(t, p, func() error { return held.Put(p, index, held.Passes, letting(t, held.PassMark+"in")) })
			do(t, p, func() error { return hook.Put(p, index, held.Labels, letting(t, held.LabelMark+"a"), nil) })
			for _, want := range []string{held.LabelMark + "a", held.LabelMark + "b"} {
				do(t, p, func() error {
					all, err := held.FindLeaving(p, index, held.Labels)
					if err != nil {
						return err
					}
					defer held.CloseAll(all)
					if len(all) != 1 || all[0].Name != want {
						t.Fatalf("there are %d, want %s", len(all), want)
					}
					if want == held.LabelMark+"a" {
						return all[0].Replace(p, index, letting(t, held.LabelMark+"b"))
					}
					return all[0].Take(p, index)
				})
			}
			do(t, p, func() error {
				all, err := held.FindLeaving(p, index, held.Labels)
				held.CloseAll(all)
				if len(all) != 0 {
					t.Errorf("%d are left", len(all))
				}
				return err
			})
			if names := found(t, p, index, held.Passes); len(names) != 1 {
				t.Errorf("for what comes in there are %v", names)
			}
		})
	}
}

// TestHookOfTheMachine is where a first program is put.
func TestHookOfTheMachine(t *testing.T) {
	p, index := place(t)
	do(t, p, func() error { return held.Put(p, index, held.Passes, letting(t, held.PassMark+"one")) })
	hook := held.Clsact
	if nstest.Has(feature.BPFTCX) {
		hook = held.TCX
	}
	do(t, p, func() error {
		if ids, err := hook.Programs(p, index, held.Passes); err != nil || len(ids) != 1 {
			t.Errorf("programs %v, error %v", ids, err)
		}
		return nil
	})
}

// TestPriorityTaken by somebody else's filter: it is left alone, and the error says what to do.
func TestPriorityTaken(t *testing.T) {
	nstest.Require(t, feature.BPFClsact)
	p, index := place(t)
	filters := func() (texts []string) {
		all, err := p.FilterList(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index}}, netlink.HANDLE_MIN_INGRESS)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			texts = append(texts, f.(*netlink.BpfFilter).Name)
		}
		return texts
	}
	qdisc := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}
	if err := p.QdiscAdd(qdisc); err != nil {
		t.Fatal(err)
	}
	at := netlink.FilterAttrs{LinkIndex: index, Parent: netlink.HANDLE_MIN_INGRESS, Handle: 1, Priority: uint16(held.Passes), Protocol: unix.ETH_P_ALL}
	if err := p.FilterAdd(&netlink.BpfFilter{FilterAttrs: at, Fd: letting(t, "somebodys").FD(), Name: "somebodys", DirectAction: true}); err != nil {
		t.Fatal(err)
	}
	err := p.Do(func() error { return held.Clsact.Put(p, index, held.Passes, letting(t, held.PassMark+"one"), nil) })
	if err == nil || !strings.Contains(err.Error(), "priority 7799") || !strings.Contains(err.Error(), "give it another") {
		t.Errorf("error %v", err)
	}
	if left := filters(); len(left) != 1 || left[0] != "somebodys" {
		t.Errorf("left are %q", left)
	}
	if names := found(t, p, index, held.Passes); len(names) != 0 {
		t.Errorf("somebody else's is taken for ours: %v", names)
	}
}

// TestNames of a program and its maps are those that the kernel has, and an object that is read once is
// each caller's own.
func TestNames(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFIngress)
	read := held.Once(steer.LoadProgram)
	spec, err := read()
	if err != nil {
		t.Fatal(err)
	}
	spec.Programs["steer"].Name = held.SteerMark + "mine"
	loaded, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	info, err := loaded.Programs["steer"].Info()
	if err != nil {
		t.Fatal(err)
	}
	id, _ := info.ID()
	opened, err := held.Open(id, held.SteerMark)
	if err != nil || opened == nil {
		t.Fatal(opened, err)
	}
	defer opened.Close()
	if opened.Name != held.SteerMark+"mine" || len(opened.Maps) != len(spec.Maps) {
		t.Errorf("%s with the maps %v", opened.Name, opened.Maps)
	}
	for name := range spec.Maps {
		if opened.Maps[name] == nil {
			t.Errorf("no map is called %s", name)
		}
	}
	if other, err := held.Open(id, held.PassMark); other != nil || err != nil {
		t.Errorf("a program of another mark: %v, error %v", other, err)
	}
	if again, err := read(); err != nil || again.Programs["steer"].Name == spec.Programs["steer"].Name {
		t.Errorf("what one caller changed another has; error %v", err)
	}
}
