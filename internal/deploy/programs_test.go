package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// configured is a program as a chain has it, with all that it was told.
type configured struct {
	*held.Program
	mark, where string
	// index of the interface that it is at.
	index int
	// ends are the addresses of the chain's first and second endpoint, by the version of IP.
	ends map[byte][2][]byte
	// strict ones ask rules, and drop what these say nothing of.
	strict bool
	// said is how often it had which verdict, and probes how many it was given.
	said   map[int32]int
	probes uint64
	// noted is of how many flows it said that they are a replica's.
	noted   int
	replica uint32
	// path is what named found.
	path *byte
}

// made are the programs of a chain that comes to be by one edit after the other, while a flow goes through it, and then goes, since they need
// it no more; without processes, which nobody would end in a worker of a fuzz test that is killed.
func made(tb testing.TB, edits ...string) (all []*configured, indexes []int) {
	tb.Helper()
	owner := nstest.Owner(tb)
	defer down(tb, owner)
	p := lifeless(tb, owner, edits[0])
	if len(edits) > 1 {
		defer exchanges(tb, p, 7113, 7013).goOn(tb)()
		p = lifeless(tb, owner, edits[1])
		for tries := 10; stayOn(tb, p) == 0; tries-- { // the flow had no packet while those were looked for that there are
			if tries == 0 {
				tb.Fatalf("no flow stays where it was before the edit to\n%s", edits[1])
			}
			lifeless(tb, owner, edits[0])
			p = lifeless(tb, owner, edits[1])
		}
	}
	takesProbes(tb, p)
	if all, indexes = holds(tb, p); len(all) == 0 {
		tb.Fatalf("no program is in a chain of\n%s", strings.Join(edits, "\n"))
	}
	return all, indexes
}

// lifeless is a chain that comes to be so, without processes.
func lifeless(tb testing.TB, owner, spec string) *plan.Plan {
	tb.Helper()
	if !strings.HasPrefix(spec, "wiring") {
		spec = "wiring: ebpf\n" + spec
	}
	p := planned(tb, owner, spec)
	p.Resources = slices.DeleteFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == process.KindName })
	up(tb, p)
	return p
}

// stayOn is how many flows of a chain stay where they were before an edit.
func stayOn(tb testing.TB, p *plan.Plan) int {
	tb.Helper()
	if s := stay(tb, p); s != nil {
		return s.Flows
	}
	return 0
}

// goOn asking, of which nobody waits for answers but the first time, until the function that is given is called.
func (e *exchange) goOn(tb testing.TB) (stop func()) {
	tb.Helper()
	e.goesOn(tb)
	told, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			_, _ = e.client.Write([]byte("question"))
			select {
			case <-told:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(told)
		<-ended
	}
}

// signature of probes.
const signature = 0x6e66636861696e21

// takesProbes out at a port of a chain, if it has one, and leads them on to its own node, as supervisors do.
func takesProbes(tb testing.TB, p *plan.Plan) {
	tb.Helper()
	i := slices.IndexFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == steer.KindName })
	if i < 0 {
		return
	}
	table, err := health.NewTable(2, signature)
	if err != nil {
		tb.Fatal(err)
	}
	defer table.Close()
	at := resource.At(nstest.Open(tb, p.Between()), p.Chain)
	port := p.Resources[i].Spec.(steer.Spec).Device
	taker, err := table.Take(at, port, []int{0}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	taker.Close()
	dev, err := at.Device(port)
	if err == nil {
		err = table.Lead(0, uint32(dev.Attrs().Index), 1)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// holds are the programs of each interface of a chain that is up. They stay for as long as the test, whatever becomes of the chain.
func holds(tb testing.TB, p *plan.Plan) (all []*configured, indexes []int) {
	tb.Helper()
	ends := map[byte][2][]byte{}
	for i, a := range p.Client().East.Addresses {
		version := map[bool]byte{true: 4, false: 6}[a.Is4()]
		ends[version] = [2][]byte{a.AsSlice(), p.Server().West.Addresses[i].AsSlice()}
	}
	for _, ns := range p.Namespaces() {
		h := nstest.Open(tb, ns)
		links, err := h.LinkList()
		if err != nil {
			tb.Fatal(err)
		}
		for _, l := range links {
			index := l.Attrs().Index
			indexes = append(indexes, index)
			for _, o := range at(tb, h, p.Chain, l) {
				tb.Cleanup(o.Close)
				mark, _, _ := strings.Cut(o.Name, "_")
				strict := o.Maps["current"] != nil && p.Classifier.Choice.Drop
				where := fmt.Sprintf("%s at %s of %s", o.Name, l.Attrs().Name, ns)
				all = append(all, &configured{Program: o, mark: mark + "_", where: where, index: index, ends: ends, strict: strict, said: map[int32]int{}})
			}
		}
	}
	return all, indexes
}

// at an interface are these programs, in the driver and behind it.
func at(tb testing.TB, h *netns.Handle, owner string, l netlink.Link) (all []*held.Program) {
	tb.Helper()
	var ids []ebpf.ProgramID
	err := h.Do(func() error {
		for _, rank := range []held.Rank{held.Probes, held.Leads, held.Opens, held.Passes, held.Fronts, held.Keeps, held.Steers, held.Throughs, held.Labels} {
			for _, hook := range []held.Hook{held.TCX, held.Clsact, held.LeavingTCX, held.LeavingClsact} {
				found, err := hook.Programs(resource.At(h, owner), l.Attrs().Index, rank)
				if err != nil {
					return err
				}
				ids = append(ids, found...)
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if x := l.Attrs().Xdp; x != nil && x.ProgId != 0 {
		ids = append(ids, ebpf.ProgramID(x.ProgId))
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		o, err := held.Open(id, "nf")
		if err != nil {
			tb.Fatal(err)
		}
		if o != nil {
			all = append(all, o)
		}
	}
	return all
}
