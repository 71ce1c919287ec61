package steer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// tablesMap has the tables of flows by seats, where paths lead to functions with replicas.
const tablesMap = "tables"

// A program that sends packets on by paths has so many seats: more than few only where they are needed, because each takes
// memory. A plan has fewer than most, so that some are left for what older paths lead to.
const (
	fewSeats  = 8
	mostSeats = 64
	// MostShared are the functions with replicas that paths may lead to from a port.
	MostShared = mostSeats / 2
)

// roomFor so many functions.
func roomFor(many int) uint32 {
	switch {
	case many == 0:
		return 1
	case many <= fewSeats:
		return fewSeats
	}
	return mostSeats
}

// seats are a program's places for functions with replicas. Who has one keeps it, because paths lead there by its number.
type seats struct {
	tables, replicas, shares, failing, dealt *ebpf.Map
	// taken are those that functions have, by the names of their tables.
	taken map[string]uint32
}

// seatMaps are those of a program that is loaded.
type seatMaps struct {
	Tables   *ebpf.Map `ebpf:"tables"`
	Replicas *ebpf.Map `ebpf:"replicas"`
	Shares   *ebpf.Map `ebpf:"shares"`
	Failing  *ebpf.Map `ebpf:"failing"`
	Dealt    *ebpf.Map `ebpf:"dealt"`
}

func (m seatMaps) close() { closeAll(m.Tables, m.Replicas, m.Shares, m.Failing, m.Dealt) }

// makeSeats for a program that is to be loaded.
func makeSeats(spec *ebpf.CollectionSpec) (m seatMaps, err error) {
	for name, to := range map[string]**ebpf.Map{tablesMap: &m.Tables, replicasMap: &m.Replicas, sharesMap: &m.Shares, failingMap: &m.Failing, dealtMap: &m.Dealt} {
		if *to, err = ebpf.NewMap(spec.Maps[name]); err != nil {
			m.close()
			return seatMaps{}, fmt.Errorf("make room for functions with replicas: %w", err)
		}
	}
	return m, nil
}

func (m seatMaps) seats() seats {
	return seats{m.Tables, m.Replicas, m.Shares, m.Failing, m.Dealt, map[string]uint32{}}
}

// makeRoom for so many seats in what is to be loaded.
func makeRoom(spec *ebpf.CollectionSpec, room uint32) {
	spec.Maps[tablesMap].MaxEntries, spec.Maps[failingMap].MaxEntries, spec.Maps[dealtMap].MaxEntries = room, room, room
	spec.Maps[replicasMap].MaxEntries, spec.Maps[sharesMap].MaxEntries = room*(Most+1), room*2
}

// openTables of the functions that a program knows, and note their seats.
func (a *attached) openTables() error {
	a.taken = map[string]uint32{}
	tables := a.Maps[tablesMap]
	if _, name := a.table(); tables == nil && name != "" {
		a.taken[name] = 0
	}
	for seat := uint32(0); tables != nil && seat < tables.MaxEntries(); seat++ {
		var id ebpf.MapID
		err := tables.Lookup(seat, (*uint32)(&id))
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		m, err := ebpf.NewMapFromID(id)
		if errors.Is(err, unix.ENOENT) {
			continue // it has gone meanwhile
		}
		if err != nil {
			return fmt.Errorf("open the table of seat %d of program %s: %w", seat, a.Name, err)
		}
		info, err := m.Info()
		if err != nil || a.Maps[info.Name] != nil {
			_ = m.Close()
			return err
		}
		a.Maps[info.Name], a.taken[info.Name] = m, seat
	}
	return nil
}

// seats of a program.
func (a *attached) seats() seats {
	return seats{a.Maps[tablesMap], a.Maps[replicasMap], a.Maps[sharesMap], a.Maps[failingMap], a.Maps[dealtMap], a.taken}
}

// seated tells whether a program, of whatever version, has seats as this one's programs do.
func (a *attached) seated() bool {
	t := a.seats()
	fits := func(m *ebpf.Map, size uint32) bool { return m != nil && m.ValueSize() == size }
	return fits(t.replicas, 4) && fits(t.shares, buckets) && fits(t.failing, 8)
}

// hasSeat tells whether a function has one at a program.
func (a *attached) hasSeat(of string) bool {
	return a.hasTable(table(of))
}

// hasTable tells whether a table of flows has a seat at a program.
func (a *attached) hasTable(name string) bool {
	if a == nil {
		return false
	}
	_, has := a.taken[name]
	return has
}

// sits tells whether there is room at a program for functions that have no seat yet.
func (a *attached) sits(all []Among) bool {
	if !a.seated() || a.Maps[tablesMap] == nil {
		return false
	}
	return a.needs(all) <= int(a.Maps[tablesMap].MaxEntries())
}

// needs so many seats for functions, with those that others have.
func (a *attached) needs(all []Among) (many int) {
	fresh := 0
	for _, one := range all {
		if a == nil {
			fresh++
		} else if !a.hasSeat(one.Of) {
			fresh++
		}
	}
	if a == nil {
		return fresh
	}
	for _, seat := range a.taken {
		many = max(many, int(seat)+1)
	}
	return max(many, len(a.taken)+fresh)
}

// maps by the names that programs know them by.
func (t seats) maps() map[string]*ebpf.Map {
	return map[string]*ebpf.Map{tablesMap: t.tables, replicasMap: t.replicas, sharesMap: t.shares, failingMap: t.failing, dealtMap: t.dealt}
}

// at a seat packets are dealt out.
func (t seats) at(seat uint32) dealing {
	return dealing{nil, t.replicas, t.shares, t.failing, t.dealt, seat}
}

// follow what another program has at its seats, which then are the same here.
func (t seats) follow(old *attached) error {
	if old == nil || !old.seated() {
		return nil
	}
	spec, err := spreadObject()
	if err != nil {
		return err
	}
	like := spec.Maps[flowsMap]
	for name, seat := range old.taken {
		err := t.at(seat).follow(old.seats().at(seat))
		like.Name = name
		if err == nil && old.lists(like) { // else it is another version's: whoever is given the seat has one made
			err = t.tables.Put(seat, old.Maps[name])
		}
		if err != nil {
			return err
		}
		t.taken[name] = seat
	}
	return nil
}

// give a function a seat, or the one that it has, with the table that all of its ports have. A new one begins with the replicas that
// fail elsewhere.
func (t seats) give(p resource.Place, a Among) (seat uint32, err error) {
	name := table(a.Of)
	seat, has := t.taken[name]
	if has && t.knows(seat, a.Flows) {
		return seat, t.at(seat).note(false)
	}
	if seat, err = t.sit(name); err != nil {
		return 0, err
	}
	m, failing, err := tableOf(p, name, a.Flows)
	if err != nil {
		return 0, err
	}
	defer func() { _ = m.Close() }()
	if !has {
		if err := t.failing.Put(seat, uint64(failing)); err != nil {
			return 0, err
		}
	}
	return seat, errors.Join(t.know(seat, m), t.at(seat).note(false))
}

// sit gives a table the seat that it has, or one in which nobody is.
func (t seats) sit(name string) (seat uint32, err error) {
	seat, has := t.taken[name]
	if has {
		return seat, nil
	}
	if seat, err = t.free(); err != nil {
		return 0, err
	}
	t.taken[name] = seat
	return seat, t.at(seat).clear()
}

// seat functions with replicas, and tell where each way leads that leads to one of these, or else, where that is "", to a port:
// the ports of all are of these indexes.
func (k Kind) seat(p resource.Place, among []Among, shared []string, t seats, to []uint32) (leads []uint32, err error) {
	behind := to
	for _, of := range shared {
		if of == "" {
			behind = behind[1:]
		}
	}
	for _, a := range among {
		seat, err := t.give(p, a)
		if err != nil {
			return nil, err
		}
		if err := t.at(seat).deal(a.Replicas, behind); err != nil {
			return nil, err
		}
		behind = behind[len(a.Replicas):]
	}
	for _, of := range shared {
		if of != "" {
			leads = append(leads, Replicas-t.taken[table(of)])
			continue
		}
		leads, to = append(leads, to[0]), to[1:]
	}
	return leads, nil
}

// knows tells whether there is a table of so many flows at a seat. It is quick, as to ask all ports is not.
func (t seats) knows(seat, flows uint32) bool {
	var id uint32
	if t.tables.Lookup(seat, &id) != nil {
		return false
	}
	m, err := ebpf.NewMapFromID(ebpf.MapID(id))
	if err != nil {
		return false
	}
	defer func() { _ = m.Close() }()
	return m.MaxEntries() == flows
}

// know a table at a seat, unless it is known: the kernel then waits for all programs.
func (t seats) know(seat uint32, m *ebpf.Map) error {
	info, err := m.Info()
	if err != nil {
		return err
	}
	var known uint32
	id, has := info.ID()
	if err := t.tables.Lookup(seat, &known); err == nil && has && known == uint32(id) {
		return nil
	}
	return t.tables.Put(seat, m)
}

// free seat.
func (t seats) free() (uint32, error) {
	taken := map[uint32]bool{}
	for _, seat := range t.taken {
		taken[seat] = true
	}
	for seat := range t.tables.MaxEntries() {
		if !taken[seat] {
			return seat, nil
		}
	}
	return 0, fmt.Errorf("flows stay on older paths to other functions with replicas, and there can be %d at a port; wait until they have been idle, or move them (`nfchain up FILE --move`)", mostSeats)
}

// leave a function's seat, to which nothing leads any more.
func (t seats) leave(name string) error {
	seat := t.taken[name]
	err := t.tables.Delete(seat)
	if errors.Is(err, ebpf.ErrKeyNotExist) {
		err = nil
	}
	delete(t.taken, name)
	return errors.Join(err, t.at(seat).clear())
}

// only the wanted functions, and those that older paths lead to, have seats at a port.
func (a *attached) sitOnly(wanted []Among) error {
	wants := map[string]bool{}
	for _, one := range wanted {
		wants[table(one.Of)] = true
	}
	return a.keepSeats(wants)
}

// leaveOlder seats, to which only older paths led that have been forgotten.
func (a *attached) leaveOlder() error {
	if !a.seated() {
		return nil
	}
	wants := map[string]bool{}
	for name, seat := range a.taken {
		older, err := a.seats().at(seat).noted()
		if err != nil {
			return err
		}
		wants[name] = !older
	}
	return a.keepSeats(wants)
}

// keepSeats only where a function is wanted, by the names of their tables, or older paths lead.
func (a *attached) keepSeats(wants map[string]bool) error {
	if len(a.taken) == 0 || a.Maps[tablesMap] == nil {
		return nil
	}
	t, leads := a.seats(), map[uint32]bool{}
	ways, err := a.allWays()
	if err != nil {
		return err
	}
	for _, w := range ways {
		if seat, shared := seatOf(w.Port); shared {
			leads[seat] = true
		}
	}
	var left []string
	for name, seat := range t.taken {
		switch {
		case wants[name]:
		case leads[seat]:
			err = errors.Join(err, a.leadNot(seat), t.at(seat).note(true))
		default:
			err = errors.Join(err, a.leadNot(seat))
			left = append(left, name)
		}
	}
	return errors.Join(err, t.leaveAll(left))
}

// leaveAll seats of functions to which nothing leads any more.
func (t seats) leaveAll(names []string) (err error) {
	if len(names) > 0 {
		held.ReadersEnded() // no packet is on its way to these seats any more
	}
	for _, name := range names {
		err = errors.Join(err, t.leave(name))
	}
	return err
}

// leadNot has no path led on to a seat in place of where it leads.
func (a *attached) leadNot(seat uint32) (err error) {
	var wrong error
	err = eachOf(a.Maps[detoursMap], func(n uint32, to classify.ProgramWay) {
		if to.Port == Replicas-seat {
			wrong = errors.Join(wrong, a.Maps[detoursMap].Put(n, classify.ProgramWay{}))
		}
	})
	return errors.Join(err, wrong)
}

// seatOf a number that stands in the place of a port; false for that of a port, or of nowhere.
func seatOf(number uint32) (seat uint32, shared bool) {
	seat = Replicas - number
	return seat, seat < mostSeats
}

// inPlace are the ports that a number stands for: that one, or those of replicas.
func (a *attached) inPlace(number uint32) (ports []uint32, err error) {
	seat, shared := seatOf(number)
	if !shared {
		return []uint32{number}, nil
	}
	indexes, err := a.seats().at(seat).indexes()
	for _, index := range indexes {
		ports = append(ports, index)
	}
	return ports, err
}

// sharedBy a program: each function's replicas in words, by its seat, and what flows are called that go to one. What only
// older paths lead to is told of by itself.
func (a *attached) sharedBy(p resource.Place) (among []string, called map[uint32]string, err error) {
	called = map[uint32]string{}
	for name, seat := range a.taken {
		called[seat] = name
		if a.Maps[tablesMap] == nil {
			continue
		}
		d := a.seats().at(seat)
		older, err := d.noted()
		if err != nil {
			return nil, nil, err
		}
		if older {
			continue
		}
		text, err := a.dealtText(p, d, name)
		if err != nil {
			return nil, nil, err
		}
		among = append(among, text)
	}
	return among, called, nil
}

// tableOf a function's flows, by its name in the kernel: that of other ports, or a new one with what is known of as many, or by another version. With it come the
// replicas that fail by what any port says: one that leads elsewhere meanwhile may not have been told.
func tableOf(p resource.Place, name string, many uint32) (m *ebpf.Map, failing Numbers, err error) {
	spec, err := spreadObject()
	if err != nil {
		return nil, 0, err
	}
	flows := spec.Maps[flowsMap]
	flows.Name, flows.MaxEntries = name, many
	others, err := holders(p, func(a *attached) bool { return a.hasTable(name) })
	defer held.CloseAll(others)
	for _, a := range others {
		if err == nil && a.seated() {
			var some Numbers
			some, err = a.seats().at(a.taken[flows.Name]).fail()
			failing |= some
		}
	}
	if err != nil {
		return nil, 0, err
	}
	if i := slices.IndexFunc(others, func(a *attached) bool { return a.has(flows.Name, flows) }); i >= 0 {
		m, err = others[i].Maps[flows.Name].Clone()
	} else {
		m, err = takeOver[spread.ProgramFlow, spread.ProgramStay](p, flows)
	}
	return m, failing, err
}
