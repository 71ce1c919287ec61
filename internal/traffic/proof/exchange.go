package proof

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
)

// message is the payload of one marked packet.
func message(nonce []byte, way, number int) []byte {
	m := make([]byte, payload)
	copy(m, nonce)
	m[len(nonce)], m[len(nonce)+1] = byte(way), byte(number)
	return m
}

// exchange sends one packet there and one back, so often, and waits for each.
func exchange(ctx context.Context, p Path, nonce []byte) error {
	if p.Protocol == trial.TCP {
		return exchangeTCP(ctx, p, nonce)
	}
	return exchangeUDP(ctx, p, nonce)
}

func exchangeTCP(ctx context.Context, p Path, nonce []byte) error {
	server := netip.AddrPortFrom(p.Address, uint16(p.Port))
	var listener *net.TCPListener
	var client net.Conn
	err := netns.Do(p.ServerNetns, func() (err error) {
		listener, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(server))
		return err
	})
	if err != nil {
		return err
	}
	defer listener.Close()
	if d, ok := ctx.Deadline(); ok {
		_ = listener.SetDeadline(d)
	}
	err = netns.Do(p.ClientNetns, func() (err error) {
		client, err = (&net.Dialer{}).DialContext(ctx, "tcp", server.String())
		return err
	})
	if err != nil {
		return fmt.Errorf("no TCP connection from client to server (%w); does a function drop TCP port %d?", err, p.Port)
	}
	defer client.Close()
	far, err := listener.Accept()
	if err != nil {
		return err
	}
	defer far.Close()
	return pingPong(ctx, nonce, client, far, far)
}

func exchangeUDP(ctx context.Context, p Path, nonce []byte) error {
	server := netip.AddrPortFrom(p.Address, uint16(p.Port))
	var client, far *net.UDPConn
	err := netns.Do(p.ServerNetns, func() (err error) {
		far, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(server))
		return err
	})
	if err != nil {
		return err
	}
	defer far.Close()
	err = netns.Do(p.ClientNetns, func() (err error) {
		client, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server))
		return err
	})
	if err != nil {
		return err
	}
	defer client.Close()
	return pingPong(ctx, nonce, client, far, &answering{UDPConn: far})
}

// answering is an unconnected socket that writes to whom it last read from.
type answering struct {
	*net.UDPConn
	to netip.AddrPort
}

// Read implements io.Reader.
func (a *answering) Read(b []byte) (n int, err error) {
	n, a.to, err = a.ReadFromUDPAddrPort(b)
	return n, err
}

// Write implements io.Writer.
func (a *answering) Write(b []byte) (int, error) { return a.WriteToUDPAddrPort(b, a.to) }

// pingPong has one packet in flight at a time, so that each is a packet of its
// own on the wire.
func pingPong(ctx context.Context, nonce []byte, client, deadline net.Conn, far io.ReadWriter) error {
	if d, ok := ctx.Deadline(); ok {
		_ = client.SetDeadline(d)
		_ = deadline.SetDeadline(d)
	}
	b := make([]byte, payload)
	for n := range rounds {
		if _, err := client.Write(message(nonce, forward, n)); err != nil {
			return err
		}
		if _, err := io.ReadFull(far, b); err != nil {
			return fmt.Errorf("a packet from client to server did not arrive (%w)", err)
		}
		if _, err := far.Write(message(nonce, reverse, n)); err != nil {
			return err
		}
		if _, err := io.ReadFull(client, b); err != nil {
			return fmt.Errorf("a packet from server to client did not arrive (%w)", err)
		}
	}
	return nil
}
