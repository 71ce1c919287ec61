package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/capture/pcapng"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/socketfilter"
)

// ring is a packet socket with memory that the kernel writes packets to, block by block
// (packet(7), and the kernel's Documentation/networking/packet_mmap.rst: TPACKET_V3).
type ring struct {
	Point
	// number and comment that it has in the file, and what was written there.
	number  int
	comment string
	written Amount

	fd     int
	memory []byte
	// inode of the namespace. The socket keeps that alive when its name is gone.
	inode uint64
	// index of the interface there.
	index int
	// next is the block that the kernel finishes next.
	next int
	// counted are the packets that fit the filter so far, dropped those of them for which
	// there was no room, read those that were taken out.
	counted, dropped, read uint64
	// down tells that the interface was, and gone that it is no more.
	down, gone bool
}

// block of a ring, bytes: a packet of 64 KiB fits.
const block = 1 << 18

// slot is how large the kernel is told that packets are, which matters little: in a
// block they lie as long as they are.
const slot = 1 << 11

// retire is after how long the kernel gives a block away that is not full.
const retire = 50 * time.Millisecond

// packet is one that was taken.
type packet struct {
	from *ring
	// time in ns since 1970.
	time   int64
	length uint32
	flags  pcapng.Flags
	data   []byte
}

// newRing is to take packets at a point once it is bound, of each what the program gives.
func newRing(p Point, program []bpf.Instruction, blocks int) (*ring, error) {
	r := &ring{Point: p, fd: -1}
	if err := r.open(program, blocks); err != nil {
		r.close()
		return nil, fmt.Errorf("capture at %s of %s: %w", p.Device, p.Hop, err)
	}
	return r, nil
}

func (r *ring) open(program []bpf.Instruction, blocks int) error {
	h, err := netns.Open(r.Namespace)
	if err != nil {
		return err
	}
	defer h.Close()
	if r.inode, err = netns.Inode(r.Namespace); err != nil {
		return err
	}
	l, err := h.LinkByName(r.Device)
	if err != nil {
		return fmt.Errorf("namespace %q has no interface %s; `nfchain up` mends the chain", r.Namespace, r.Device)
	}
	if kind := l.Attrs().EncapType; kind != "ether" && kind != "loopback" {
		return fmt.Errorf("the interface is of type %s, and only Ethernet is captured; name another hop", kind)
	}
	err = h.Do(func() error {
		// No protocol is bound until all else is in place.
		r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.choose(program); err != nil {
		return err
	}
	r.index = l.Attrs().Index
	return r.share(blocks)
}

// bind begins to take packets.
func (r *ring) bind() error {
	all := binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})
	if err := unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: r.index}); err != nil {
		return fmt.Errorf("capture at %s of %s: %w", r.Device, r.Hop, err)
	}
	return nil
}

// look whether the namespace still has its name.
func (r *ring) look() {
	inode, err := netns.Inode(r.Namespace)
	r.gone = r.gone || err != nil || inode != r.inode
}

// choose the packets of the point's way that the program takes.
func (r *ring) choose(program []bpf.Instruction) error {
	if !r.Out {
		// So those that go out are not even shown to the program.
		if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
			return err
		}
		return socketfilter.Attach(r.fd, program)
	}
	return socketfilter.Attach(r.fd, append([]bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtType},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PACKET_OUTGOING, SkipTrue: 1},
		bpf.RetConstant{Val: 0},
	}, program...))
}

// share memory with the kernel.
func (r *ring) share(blocks int) error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return err
	}
	request := unix.TpacketReq3{Block_size: block, Block_nr: uint32(blocks), Frame_size: slot, Frame_nr: uint32(blocks * (block / slot)),
		Retire_blk_tov: uint32(retire / time.Millisecond)}
	if err := unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &request); err != nil {
		return fmt.Errorf("share %d blocks of memory with the kernel (--buffer takes less): %w", blocks, err)
	}
	memory, err := unix.Mmap(r.fd, 0, blocks*block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	r.memory = memory
	return err
}

func (r *ring) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
	}
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
	}
}

// count what fit the filter until now.
func (r *ring) count() error {
	s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return fmt.Errorf("count what was captured at %s of %s: %w", r.Device, r.Hop, err)
	}
	r.counted += uint64(s.Packets)
	r.dropped += uint64(s.Drops)
	return nil
}

// kept are the packets that there was room for, until they were last counted.
func (r *ring) kept() uint64 { return r.counted - r.dropped }

// refuse all packets from now on.
func (r *ring) refuse() error {
	return socketfilter.Attach(r.fd, []bpf.Instruction{bpf.RetConstant{Val: 0}})
}

// heed what a poll says of the socket besides packets: that its interface went down. It
// may come up again, or be no more.
func (r *ring) heed(events int16) error {
	if events&unix.POLLERR != 0 {
		if _, err := unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR); err != nil { // which clears it
			return err
		}
		r.down = true
	}
	if !r.down || r.gone {
		return nil
	}
	at, err := unix.Getsockname(r.fd)
	if bound, is := at.(*unix.SockaddrLinklayer); is {
		r.gone = bound.Ifindex <= 0
	}
	return err
}

// headerAt is where a block's header is.
var headerAt = unsafe.Offsetof(unix.TpacketBlockDesc{}.Hdr)

// drain the blocks that the kernel has finished, each once at most, so that others have
// their turn.
func (r *ring) drain(take func(packet)) {
	for range len(r.memory) / block {
		b := r.memory[r.next*block:][:block]
		h := (*unix.TpacketHdrV1)(unsafe.Pointer(&b[headerAt]))
		if atomic.LoadUint32(&h.Block_status)&unix.TP_STATUS_USER == 0 {
			return
		}
		r.unpack(bytes.Clone(b[:min(h.Blk_len, block)]), h.Num_pkts, h.Offset_to_first_pkt, take)
		atomic.StoreUint32(&h.Block_status, unix.TP_STATUS_KERNEL)
		r.next = (r.next + 1) % (len(r.memory) / block)
	}
}

// unpack a block's packets, the first of which is at a place.
func (r *ring) unpack(b []byte, packets, at uint32, take func(packet)) {
	for range packets {
		h := (*unix.Tpacket3Hdr)(unsafe.Pointer(&b[at]))
		from := (*unix.RawSockaddrLinklayer)(unsafe.Pointer(&b[at+unix.SizeofTpacket3Hdr]))
		data := b[at+uint32(h.Mac):][:h.Snaplen]
		p := packet{from: r, time: int64(h.Sec)*int64(time.Second) + int64(h.Nsec), length: h.Len, flags: flagsOf(from.Pkttype), data: data}
		if h.Status&unix.TP_STATUS_VLAN_VALID != 0 {
			p.tag(h)
		}
		take(p)
		r.read++
		at += h.Next_offset
	}
}

// flagsOf a type of packet, as the kernel has it.
func flagsOf(kind uint8) pcapng.Flags {
	switch kind {
	case unix.PACKET_OUTGOING:
		return pcapng.Out
	case unix.PACKET_HOST:
		return pcapng.In | pcapng.ForUs
	case unix.PACKET_MULTICAST:
		return pcapng.In | pcapng.ForSome
	case unix.PACKET_BROADCAST:
		return pcapng.In | pcapng.ForAll
	case unix.PACKET_OTHERHOST:
		return pcapng.In | pcapng.ForAnother
	}
	return pcapng.In
}

// tag puts back the tag of a VLAN (IEEE 802.1Q), which the kernel keeps beside a packet.
func (p *packet) tag(h *unix.Tpacket3Hdr) {
	const addresses = 12
	if len(p.data) < addresses {
		return
	}
	kind := uint16(unix.ETH_P_8021Q)
	if h.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
		kind = h.Hv1.Vlan_tpid
	}
	tagged := binary.BigEndian.AppendUint16(bytes.Clone(p.data[:addresses]), kind)
	tagged = binary.BigEndian.AppendUint16(tagged, uint16(h.Hv1.Vlan_tci))
	p.length += uint32(len(tagged) - addresses)
	p.data = append(tagged, p.data[addresses:]...)
}
