package iperf3

import (
	"encoding/json"
	"fmt"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// output is the part of iperf3's JSON that is read here.
type output struct {
	Error string `json:"error"`
	End   struct {
		Streams []struct {
			Sender struct {
				Retransmits *int `json:"retransmits"`
			} `json:"sender"`
			UDP struct {
				OutOfOrder int `json:"out_of_order"`
			} `json:"udp"`
		} `json:"streams"`
		Sent     *sum `json:"sum_sent"`
		Received *sum `json:"sum_received"`
	} `json:"end"`
}

type sum struct {
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"`
	Packets float64 `json:"packets"`
	Lost    float64 `json:"lost_packets"`
	Jitter  float64 `json:"jitter_ms"`
}

// explain adds what iperf3 says of itself, which it prints as JSON.
func explain(err error, stdout []byte) error {
	var o output
	if json.Unmarshal(stdout, &o) == nil && o.Error != "" {
		return fmt.Errorf("iperf3 says %q", o.Error)
	}
	return err
}

func parse(side string, text []byte) (output, error) {
	var o output
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("the %s's iperf3 printed no JSON (%w): %q", side, err, traffic.Excerpt(string(text)))
	}
	if o.Error != "" {
		return o, fmt.Errorf("the %s's iperf3 says %q", side, o.Error)
	}
	if o.End.Received == nil || o.End.Received.Seconds <= 0 || o.End.Sent == nil {
		return o, fmt.Errorf("the %s's iperf3 printed no result: %q", side, traffic.Excerpt(string(text)))
	}
	return o, nil
}

// total of all flows.
type total struct {
	goodput, packetRate    float64 // per second, summed over flows
	sent, received         float64 // packets
	retransmits, reordered float64
	jitter, flows          float64
	hasRetransmits         bool
}

// add counts one pair: what arrived by the server, what was sent by the client.
func (t *total) add(client, server []byte, protocol string) error {
	c, err := parse("client", client)
	if err != nil {
		return err
	}
	s, err := parse("server", server)
	if err != nil {
		return err
	}
	r := s.End.Received
	t.goodput += r.Bytes * 8 / r.Seconds
	t.flows++
	if protocol == trial.UDP {
		arrived := r.Packets - r.Lost
		t.packetRate += arrived / r.Seconds
		t.received += arrived
		t.sent += c.End.Sent.Packets
		t.jitter += r.Jitter
		for _, stream := range s.End.Streams {
			t.reordered += float64(stream.UDP.OutOfOrder)
		}
		return nil
	}
	for _, stream := range c.End.Streams {
		if n := stream.Sender.Retransmits; n != nil {
			t.retransmits += float64(*n)
			t.hasRetransmits = true
		}
	}
	return nil
}

// metrics of a trial. Goodput is the sum of the receivers' rates (RFC 2647
// §3.7). Loss counts what the senders sent and no receiver got.
func (t *total) metrics(protocol string) map[string]float64 {
	m := map[string]float64{"goodput_bps": t.goodput}
	if protocol == trial.UDP {
		m["packet_rate_pps"] = t.packetRate
		m["jitter_ns"] = t.jitter / t.flows * 1e6
		m["reordered_packets"] = t.reordered
		if t.sent > 0 {
			m["loss_ratio"] = max(0, 1-t.received/t.sent)
		}
	} else if t.hasRetransmits {
		m["retransmits"] = t.retransmits
	}
	return m
}
