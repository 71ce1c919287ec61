package ethtool

// The commands of linux/ethtool.h for struct ethtool_channels.
const (
	cmdChannels    = 0x3c // ETHTOOL_GCHANNELS
	cmdSetChannels = 0x3d // ETHTOOL_SCHANNELS
)

// Queues are how many queues an interface uses, and how many its driver has room for.
type Queues struct {
	Receive, Transmit, MostReceive, MostTransmit int
}

// The places in struct ethtool_channels, in words: the most, then those in use.
const (
	mostReceive, mostTransmit, mostBoth = 1, 2, 4
	receive, transmit, both             = 5, 6, 8
	channelsSize                        = 9 * 4
)

func (s *Socket) channels(device string) ([]byte, func(word int) int, error) {
	b := make([]byte, channelsSize)
	native.PutUint32(b, cmdChannels)
	err := s.ask(device, b)
	return b, func(word int) int { return int(native.Uint32(b[4*word:])) }, err
}

// ReceiveQueues is how many queues an interface receives on; the driver may have room
// for more.
func (s *Socket) ReceiveQueues(device string) (int, error) {
	q, err := s.Queues(device)
	return q.Receive, err
}

// Queues of an interface. Those that both receive and transmit count as one of each.
func (s *Socket) Queues(device string) (Queues, error) {
	_, at, err := s.channels(device)
	return Queues{
		Receive: at(receive) + at(both), Transmit: at(transmit) + at(both),
		MostReceive: at(mostReceive) + at(mostBoth), MostTransmit: at(mostTransmit) + at(mostBoth),
	}, err
}

// SetQueues has an interface use so many queues; 0 leaves a number as it is. Queues that
// both receive and transmit stay as they are.
func (s *Socket) SetQueues(device string, receiving, transmitting int) error {
	b, at, err := s.channels(device)
	if err != nil {
		return err
	}
	if receiving > 0 {
		native.PutUint32(b[4*receive:], uint32(max(0, receiving-at(both))))
	}
	if transmitting > 0 {
		native.PutUint32(b[4*transmit:], uint32(max(0, transmitting-at(both))))
	}
	native.PutUint32(b, cmdSetChannels)
	return s.ask(device, b)
}
