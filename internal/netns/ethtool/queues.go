package ethtool

// cmdChannels is ETHTOOL_GCHANNELS of linux/ethtool.h.
const cmdChannels = 0x3c

// ReceiveQueues is how many queues an interface receives on; the driver may have room
// for more.
func (s *Socket) ReceiveQueues(device string) (int, error) {
	b := make([]byte, 9*4) // struct ethtool_channels
	native.PutUint32(b, cmdChannels)
	if err := s.ask(device, b); err != nil {
		return 0, err
	}
	receiving, both := native.Uint32(b[5*4:]), native.Uint32(b[8*4:])
	return int(receiving + both), nil
}
