package traffic

import (
	"fmt"
	"net"

	"nfchain.dev/nfchain/internal/netns"
)

// PortsFree checks that nothing else has the job's ports on the server, TCP and
// UDP, so that no stranger answers in the tool's place.
func (j Job) PortsFree() error {
	for port := j.ListenPort(); port < j.ListenPort()+j.Condition.Flows; port++ {
		err := netns.Do(j.ServerNetns, func() error {
			tcp, err := net.ListenTCP("tcp", &net.TCPAddr{Port: port})
			if err != nil {
				return err
			}
			defer func() { _ = tcp.Close() }()
			udp, err := net.ListenUDP("udp", &net.UDPAddr{Port: port})
			if err != nil {
				return err
			}
			return udp.Close()
		})
		if err != nil {
			return fmt.Errorf("%s cannot listen on port %d, which the traffic goes to: %w", j.ServerNode, port, err)
		}
	}
	return nil
}
