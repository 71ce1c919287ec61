package steer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Flows of a function with replicas. Each is with the number of one.
type Flows struct {
	// Known flows by their number, and of these the ones that are not idle.
	Known, Busy map[int]int
	// New flows, those that moved because what they were with had gone, and packets of flows
	// for which there was no room: since the ports are there.
	New, Moved, Unkept uint64
	// Leaving are numbers that have flows and get no new ones.
	Leaving []int
}

// FlowsOf reads what the ports of these specs know of flows, by what they are of. Where a port
// has another version's program, it tells nothing.
func FlowsOf(p resource.Place, specs []Spec) (map[string]*Flows, error) {
	all := map[string]*Flows{}
	err := p.Do(func() error {
		for _, s := range specs {
			dev, err := p.Device(s.Device)
			if len(s.Shared()) == 0 || err != nil {
				continue // the port is not there yet, or no longer
			}
			if err := addFlows(p, dev.Attrs().Index, s, all); err != nil {
				return fmt.Errorf("read the flows of port %s in namespace %q: %w", s.Device, p.Ref, err)
			}
		}
		return nil
	})
	return all, err
}

func addFlows(p resource.Place, index int, s Spec, all map[string]*Flows) error {
	programs, err := find(p, index)
	defer held.CloseAll(programs)
	if err != nil {
		return err
	}
	for _, a := range programs {
		for _, among := range s.Shared() {
			if !a.knows(among.Of, among.Flows) {
				continue
			}
			f := all[among.Of]
			if f == nil { // all ports have one table
				f = &Flows{Known: map[int]int{}, Busy: map[int]int{}}
				all[among.Of] = f
				if err := f.read(a.Maps[table(among.Of)], time.Duration(among.Idle)); err != nil {
					return err
				}
			}
			if err := errors.Join(f.leave(a, among), f.count(a.Maps[dealtMap], a.taken[table(among.Of)])); err != nil {
				return err
			}
		}
	}
	return nil
}

// count what became of flows at one port.
func (f *Flows) count(m *ebpf.Map, seat uint32) error {
	if m == nil {
		return nil
	}
	var each []spread.ProgramDealt
	if err := m.Lookup(seat, &each); err != nil {
		return err
	}
	for _, cpu := range each {
		f.New += cpu.Fresh
		f.Moved += cpu.Moved
		f.Unkept += cpu.Unkept
	}
	return nil
}

// read a table of flows, so many at once.
func (f *Flows) read(m *ebpf.Map, idle time.Duration) error {
	now, err := monotonic()
	if err != nil {
		return err
	}
	return eachOf(m, func(_ spread.ProgramFlow, s spread.ProgramStay) {
		f.Known[int(s.Replica)]++
		if now-int64(s.Seen) < int64(idle) {
			f.Busy[int(s.Replica)]++
		}
	})
}

// eachOf a table's keys and values, so many at once.
func eachOf[K, V any](m *ebpf.Map, do func(K, V)) error {
	many := min(1024, m.MaxEntries())
	keys, values := make([]K, many), make([]V, many)
	for cursor := new(ebpf.MapBatchCursor); ; {
		n, err := m.BatchLookup(cursor, keys, values, nil)
		for i := range n {
			do(keys[i], values[i])
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil // that was all
		}
		if err != nil {
			return err
		}
	}
}

// monotonic time as programs read it.
func monotonic() (int64, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC_COARSE, &now)
	return now.Nano(), err
}

// leave notes the numbers at a port that new flows do not get.
func (f *Flows) leave(a *attached, among Among) error {
	ports, err := a.seats().at(a.taken[table(among.Of)]).indexes()
	if err != nil {
		return err
	}
	var wanted []int
	for _, r := range among.Replicas {
		wanted = append(wanted, r.Number)
	}
	for n := range ports {
		if !slices.Contains(wanted, n) && !slices.Contains(f.Leaving, n) {
			f.Leaving = append(f.Leaving, n)
		}
	}
	return nil
}
