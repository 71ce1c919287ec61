package ethtool

// The commands of linux/ethtool.h for struct ethtool_value.
const (
	cmdTxChecksum    = 0x16 // ETHTOOL_GTXCSUM
	cmdSetTxChecksum = 0x17 // ETHTOOL_STXCSUM
)

// TxChecksum tells whether the checksums of what an interface sends are left to it.
func (s *Socket) TxChecksum(device string) (bool, error) {
	b := make([]byte, 8)
	native.PutUint32(b, cmdTxChecksum)
	err := s.ask(device, b)
	return native.Uint32(b[4:]) != 0, err
}

// SetTxChecksum leaves the checksums of what an interface sends to it, or has the kernel
// compute them; then the kernel also cuts what is sent into packets.
func (s *Socket) SetTxChecksum(device string, on bool) error {
	b := make([]byte, 8)
	native.PutUint32(b, cmdSetTxChecksum)
	if on {
		native.PutUint32(b[4:], 1)
	}
	return s.ask(device, b)
}
