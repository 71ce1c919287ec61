package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
)

// exchange sends one packet there and one back, so often, and waits for each.
func exchange(ctx context.Context, p Path, nonce []byte) error {
	if p.Protocol == trial.TCP {
		return exchangeTCP(ctx, p, nonce)
	}
	return exchangeUDP(ctx, p, nonce)
}

func exchangeTCP(ctx context.Context, p Path, nonce []byte) error {
	var listener *net.TCPListener
	err := netns.Do(p.ServerNetns, func() (err error) {
		listener, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(p.At))
		return err
	})
	if err != nil {
		return fmt.Errorf("the server cannot listen: %w", err)
	}
	defer func() { _ = listener.Close() }()
	var client net.Conn
	limited, cancel := context.WithTimeout(ctx, p.patience())
	defer cancel()
	err = netns.Do(p.ClientNetns, func() (err error) {
		client, err = (&net.Dialer{}).DialContext(limited, "tcp", p.To.String())
		return err
	})
	if err != nil {
		return fmt.Errorf("no TCP connection from client to server (%w)", err)
	}
	defer func() { _ = client.Close() }()
	defer interrupt(limited, listener)()
	far, err := listener.Accept()
	if err != nil {
		return fmt.Errorf("no TCP connection from client to server (%w)", err)
	}
	defer func() { _ = far.Close() }()
	if err := p.from(far.RemoteAddr().(*net.TCPAddr).AddrPort(), client.LocalAddr().(*net.TCPAddr).AddrPort()); err != nil {
		return err
	}
	return pingPong(ctx, nonce, p.patience(), side{Conn: client}, side{Conn: far})
}

func exchangeUDP(ctx context.Context, p Path, nonce []byte) error {
	var client, far *net.UDPConn
	err := netns.Do(p.ServerNetns, func() (err error) {
		far, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(p.At))
		return err
	})
	if err != nil {
		return fmt.Errorf("the server cannot listen: %w", err)
	}
	defer func() { _ = far.Close() }()
	err = netns.Do(p.ClientNetns, func() (err error) {
		client, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.To))
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	again, server := resend+p.Delay, &answering{UDPConn: far}
	if err := server.whole(); err != nil {
		return err
	}
	err = pingPong(ctx, nonce, p.patience(), side{Conn: client, again: again}, side{Conn: server, again: again})
	if err != nil {
		return err
	}
	return p.from(server.to, client.LocalAddr().(*net.UDPAddr).AddrPort())
}

// from tells whether packets come from where they should, which left the client by some port.
func (p Path) from(source, left netip.AddrPort) error {
	if p.Kept && source.Port() != left.Port() {
		return fmt.Errorf("packets leave the client by port %d and come from port %d at the server: a program passes them on and no kernel translates them, such as docker-proxy where the engine runs with --iptables=false", left.Port(), source.Port())
	}
	if got := source.Addr().Unmap(); p.Source.IsValid() && got != p.Source {
		return fmt.Errorf("packets come from %s at the server, not from %s: the function that should translate them does not", got, p.Source)
	}
	return nil
}

// resend is when a UDP packet is taken to be lost and sent again: a chain may be
// under load, or lose packets on purpose, and that is no matter of its path.
const resend = 200 * time.Millisecond

// side is one end of the exchange.
type side struct {
	net.Conn
	// again is how long to wait before a packet is sent again; 0 leaves that to the
	// protocol.
	again time.Duration
}

// pingPong has one packet in flight at a time, so that each is a packet of its
// own on the wire.
func pingPong(ctx context.Context, nonce []byte, patience time.Duration, client, server side) error {
	for n := range rounds {
		if err := carryWithin(ctx, patience, client, server, message(nonce, forward, n)); err != nil {
			return fmt.Errorf("a packet from client to server did not arrive (%w)", err)
		}
		if err := carryWithin(ctx, patience, server, client, message(nonce, reverse, n)); err != nil {
			return fmt.Errorf("a packet from server to client did not arrive (%w)", err)
		}
	}
	return nil
}

// carryWithin gives up after some time.
func carryWithin(ctx context.Context, limit time.Duration, from, to side, m []byte) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer interrupt(ctx, from)()
	defer interrupt(ctx, to)()
	return carry(ctx, from, to, m)
}

// carry sends a message from one side until the other has it.
func carry(ctx context.Context, from, to side, m []byte) error {
	for {
		if _, err := from.Write(m); err != nil {
			return err
		}
		err := to.await(ctx, m)
		if err == nil || from.again == 0 || ctx.Err() != nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}

// await reads until the message is there. An earlier one may come again.
func (s side) await(ctx context.Context, m []byte) error {
	if s.again > 0 {
		_ = s.SetReadDeadline(time.Now().Add(s.again))
		if ctx.Err() != nil { // meanwhile
			return ctx.Err()
		}
	}
	for have, b := []byte{}, make([]byte, payload); !bytes.HasSuffix(have, m); {
		n, err := s.Read(b)
		if err != nil {
			return err
		}
		have = append(have, b[:n]...)
	}
	return nil
}

// interrupt ends every wait on a socket once the context ends.
func interrupt(ctx context.Context, socket interface{ SetDeadline(time.Time) error }) func() bool {
	return context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
}
