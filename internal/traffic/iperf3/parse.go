package iperf3

import (
	"encoding/json"
	"fmt"
	"math"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// output is the part of iperf3's JSON that is read here.
type output struct {
	Error     string `json:"error"`
	Intervals []struct {
		Sum sum `json:"sum"`
	} `json:"intervals"`
	End struct {
		Streams []struct {
			Sender struct {
				Retransmits *float64 `json:"retransmits"`
			} `json:"sender"`
			UDP struct {
				OutOfOrder float64 `json:"out_of_order"`
			} `json:"udp"`
		} `json:"streams"`
		Sum      *sum `json:"sum"` // UDP
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

// parse reads what one iperf3 printed.
func parse(text []byte) (output, error) {
	var o output
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("iperf3 printed no result (%w): %q", err, words.Excerpt(text))
	}
	if o.Error != "" {
		return o, fmt.Errorf("iperf3 says %q", o.Error)
	}
	if o.End.Received == nil && o.End.Sum != nil {
		o.older()
	}
	if r := o.End.Received; r == nil || o.End.Sent == nil || !r.possible() || !o.End.Sent.possible() {
		return o, fmt.Errorf("iperf3 printed no result: %q", words.Excerpt(text))
	}
	return o, nil
}

// older completes the output of iperf3 before 3.10, which has one sum for both
// sides of a UDP stream. A sender's counts what it sent; a receiver's lacks the
// bytes, which are in the intervals.
func (o *output) older() {
	sent, received := *o.End.Sum, *o.End.Sum
	received.Bytes = 0
	for _, i := range o.Intervals {
		received.Bytes += i.Sum.Bytes
	}
	o.End.Sent, o.End.Received = &sent, &received
}

// possible tells whether these can be counts. Packets lost may be fewer than none,
// where some came twice.
func (s sum) possible() bool {
	return countable(s.Bytes) && countable(s.Packets) && countable(s.Jitter) && countable(math.Abs(s.Lost)) &&
		s.Seconds > 0.001 && s.Seconds < 1<<31
}

func countable(n float64) bool { return n >= 0 && n < 1<<62 }

// bySecond is the rate of each whole second, bit/s. A last interval that was cut
// short ends it.
func (o output) bySecond() (rates []float64) {
	for _, i := range o.Intervals {
		if !i.Sum.possible() || i.Sum.Seconds < 0.9 {
			break
		}
		rates = append(rates, i.Sum.Bytes*8/i.Sum.Seconds)
	}
	return rates
}

// flow is what one pair counted: what arrived by the server, what was sent by the
// client.
type flow struct {
	bytes, seconds float64 // at the receiver
	sent, received float64 // packets, UDP
	reordered      float64
	jitter         float64 // ms
	retransmits    *float64
	bySecond       []float64 // bit/s at the receiver
}

func count(client, server output, protocol string) (flow, error) {
	r := server.End.Received
	f := flow{bytes: r.Bytes, seconds: r.Seconds, bySecond: server.bySecond()}
	if protocol == trial.UDP {
		f.sent, f.received, f.jitter = client.End.Sent.Packets, r.Packets-r.Lost, r.Jitter
		for _, stream := range server.End.Streams {
			f.reordered += max(0, min(stream.UDP.OutOfOrder, f.received))
		}
		if f.sent <= 0 || f.received < 0 {
			return f, fmt.Errorf("iperf3's counts cannot be: %.0f packets sent, %.0f received", f.sent, f.received)
		}
		return f, nil
	}
	for _, stream := range client.End.Streams {
		if n := stream.Sender.Retransmits; n != nil && countable(*n) {
			sum := *n
			if f.retransmits != nil {
				sum += *f.retransmits
			}
			f.retransmits = &sum
		}
	}
	return f, nil
}

// total of all flows.
type total struct {
	flows               int
	goodput, packetRate float64 // per second
	sent, received      float64 // packets
	reordered, jitter   float64
	retransmits         float64
	retransmitsKnown    bool
}

// add adds a flow. Rates add up: each flow is a pair of processes with a clock of
// its own.
func (t *total) add(f flow) {
	t.flows++
	t.goodput += f.bytes * 8 / f.seconds
	t.packetRate += f.received / f.seconds
	t.sent += f.sent
	t.received += f.received
	t.reordered += f.reordered
	t.jitter += f.jitter
	if f.retransmits != nil {
		t.retransmits += *f.retransmits
		t.retransmitsKnown = true
	}
}

// metrics of a trial. Goodput is the sum of the receivers' rates (RFC 2647
// §3.7). Loss is what the senders sent and no receiver got.
func (t *total) metrics(protocol string) map[string]float64 {
	m := map[string]float64{"goodput_bps": t.goodput}
	if protocol == trial.UDP {
		m["packet_rate_pps"] = t.packetRate
		m["jitter_ns"] = t.jitter / float64(t.flows) * 1e6
		m["reordered_packets"] = t.reordered
		m["loss_ratio"] = max(0, 1-t.received/t.sent)
	} else if t.retransmitsKnown {
		m["retransmits"] = t.retransmits
	}
	return m
}
