package pcapng

import (
	"maps"
	"net/netip"
	"slices"
)

// Interface is where packets are from.
type Interface struct {
	Name, Description string
	// Filter is the expression that packets had to fit, if there was one.
	Filter string
	// Snaplen is how many bytes of a packet are kept at most.
	Snaplen uint32
}

// Add an interface, whose packets are told by the number that is returned.
func (w *Writer) Add(i Interface) (int, error) {
	const ethernet, name, description, resolution, filter = 1, 2, 3, 9, 11
	w.begin(interfaceBlock)
	w.put32(ethernet) // 16 bits, and 16 that are reserved
	w.put32(i.Snaplen)
	w.text(name, i.Name)
	w.text(description, i.Description)
	const nanoseconds = 9 // digits of a second
	w.option(resolution, 1)
	w.putPadded([]byte{nanoseconds})
	if i.Filter != "" {
		const expression = "\x00"
		w.text(filter, expression+i.Filter)
	}
	w.interfaces++
	return w.interfaces - 1, w.end()
}

// Names of addresses, which readers show if they are asked to.
func (w *Writer) Names(names map[netip.Addr]string) error {
	const ipv4, ipv6, last = 1, 2, 0
	if len(names) == 0 {
		return nil
	}
	w.begin(namesBlock)
	for _, a := range slices.SortedFunc(maps.Keys(names), netip.Addr.Compare) {
		record := append(a.AsSlice(), names[a]...)
		record = append(record, 0)
		kind := uint16(ipv6)
		if a.Is4() {
			kind = ipv4
		}
		w.option(kind, len(record))
		w.putPadded(record)
	}
	w.option(last, 0)
	return w.end()
}

// Statistics of an interface for the time of the capture.
type Statistics struct {
	// Start and End, in ns since 1970.
	Start, End int64
	// Accepted are packets that fit the filter, Dropped those of them for which there was
	// no room, Delivered those that are in the file.
	Accepted, Dropped, Delivered uint64
}

// Statistics of the interface with a number.
func (w *Writer) Statistics(number int, s Statistics) error {
	const start, end, accepted, dropped, delivered = 2, 3, 6, 7, 8
	w.begin(statisticsBlock)
	w.put32(uint32(number))
	w.putTime(s.End)
	w.moment(start, s.Start)
	w.moment(end, s.End)
	w.count(accepted, s.Accepted)
	w.count(dropped, s.Dropped)
	w.count(delivered, s.Delivered)
	return w.end()
}

func (w *Writer) moment(code uint16, ns int64) {
	w.option(code, 8)
	w.putTime(ns)
}

func (w *Writer) count(code uint16, n uint64) {
	w.option(code, 8)
	w.put64(n)
}
