package tuning

import (
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/netns/ethtool"
)

// queues that an interface uses.
var queues = []knob{
	queue("rx_queues", "rq", func(q ethtool.Queues) int { return q.Receive },
		func(s *ethtool.Socket, device string, n int) error { return s.SetQueues(device, n, 0) }),
	queue("tx_queues", "tq", func(q ethtool.Queues) int { return q.Transmit },
		func(s *ethtool.Socket, device string, n int) error { return s.SetQueues(device, 0, n) }),
}

func queue(name, code string, of func(ethtool.Queues) int, set func(*ethtool.Socket, string, int) error) knob {
	return knob{
		name: name, code: code, command: queueCommand(strings.TrimSuffix(name, "_queues")),
		read: func(at *port) (string, error) {
			s, err := at.driver()
			if err != nil {
				return "", err
			}
			q, err := s.Queues(at.device())
			return strconv.Itoa(of(q)), err
		},
		write: func(at *port, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			s, err := at.driver()
			if err != nil {
				return err
			}
			return set(s, at.device(), n)
		},
		hint: "`ethtool -l` tells how many the driver has room for; a veth has one for each core",
	}
}
