package rr

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/trial"
)

// server answers one flow.
type server struct {
	settings
	fd                int
	request, response []byte
	// requests are those that arrived whole; strangers are datagrams of another size.
	requests, strangers atomic.Uint64
}

// servedReport is what a server counted, over all flows.
type servedReport struct {
	Requests  uint64 `json:"requests"`
	Strangers uint64 `json:"strangers"`
}

// forever waits without an end.
var forever time.Time

func (s settings) listen(flow int) (*server, error) {
	fd, err := s.open()
	if err != nil {
		return nil, err
	}
	sv := &server{settings: s, fd: fd, request: make([]byte, s.Request+1), response: make([]byte, max(s.Response, stampSize))}
	if err = unix.Bind(fd, sockaddr(s.port(flow))); err == nil && s.Protocol != trial.UDPRR {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", s.port(flow), err)
	}
	return sv, nil
}

// answer answers until the process ends.
func (sv *server) answer() error {
	if sv.Protocol == trial.UDPRR {
		return sv.answerDatagrams()
	}
	for {
		fd, _, err := unix.Accept4(sv.fd, unix.SOCK_CLOEXEC)
		switch {
		case again(err), errors.Is(err, unix.ECONNABORTED):
			continue
		case err != nil:
			return fmt.Errorf("accept: %w", err)
		}
		// A connection that breaks is the client's to count.
		_ = sv.answerConnection(fd)
		_ = unix.Close(fd)
	}
}

// answerConnection answers one connection's requests: one of them for tcp_crr,
// where the server closes first. So the ports that wait out their time (RFC 9293
// §3.6.1) are those of the server, and the client does not run out of them.
func (sv *server) answerConnection(fd int) error {
	if err := tune(fd, true); err != nil {
		return err
	}
	for {
		if err := receiveAll(fd, sv.request[:sv.Request], sv.flags(), forever); err != nil {
			return err
		}
		sv.requests.Add(1)
		if err := send(fd, sv.response[:sv.Response], time.Now().Add(patience)); err != nil {
			return err
		}
		if sv.Protocol == trial.TCPCRR {
			return nil
		}
	}
}

// answerDatagrams answers every datagram of the right size, with the request's
// stamp at the front.
func (sv *server) answerDatagrams() error {
	var from peer
	for {
		n, err := receive(sv.fd, sv.request, sv.flags(), &from, forever)
		if err != nil {
			continue // of an answer that nobody took (ICMP)
		}
		if n != sv.Request {
			sv.strangers.Add(1)
			continue
		}
		sv.requests.Add(1)
		copy(sv.response, sv.request[:min(stampSize, sv.Request)])
		if err := reply(sv.fd, sv.response[:sv.Response], &from); err != nil && !again(err) {
			continue // the client counts it as lost
		}
	}
}
