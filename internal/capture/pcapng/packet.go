package pcapng

// Packet is one that was taken.
type Packet struct {
	// Interface is the number that it has by Add.
	Interface int
	// Time, in ns since 1970.
	Time int64
	// Length that it had, bytes, of which Data may be the first only.
	Length uint32
	Data   []byte
	Flags  Flags
	// Comment, empty for none.
	Comment string
}

// Flags say how a packet came by its interface (draft-ietf-opsawg-pcapng, section 4.3.1).
type Flags uint32

// The two ways, of which a packet has one, and whom it was for, as far as that is known.
const (
	In         Flags = 1
	Out        Flags = 2
	ForUs      Flags = 1 << 2
	ForSome    Flags = 2 << 2
	ForAll     Flags = 3 << 2
	ForAnother Flags = 4 << 2
)

// Packet writes one.
func (w *Writer) Packet(p Packet) error {
	const flags = 2
	w.begin(packetBlock)
	w.put32(uint32(p.Interface))
	w.putTime(p.Time)
	w.put32(uint32(len(p.Data)))
	w.put32(p.Length)
	w.putPadded(p.Data)
	w.option(flags, 4)
	w.put32(uint32(p.Flags))
	w.text(comment, p.Comment)
	return w.end()
}
