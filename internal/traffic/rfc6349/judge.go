package rfc6349

import (
	"errors"
	"fmt"

	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// sentReport is what the client saw.
type sentReport struct {
	// Baseline is the least round-trip time before the transfer, in microseconds, of
	// which the kernel's TCP counts.
	Baseline float64 `json:"baseline_rtt_us"`
	// Average round-trip time during the transfer, over samples and connections.
	Average float64 `json:"average_rtt_us"`
	// MTU of the path, as the kernel knows it after it has sent.
	MTU int `json:"path_mtu_bytes"`
	// Transmitted payload over all connections, retransmissions among it.
	Transmitted   uint64 `json:"transmitted_bytes"`
	Retransmitted uint64 `json:"retransmitted_bytes"`
	// Buffer is how far a socket's send buffer may grow, in bytes.
	Buffer uint64 `json:"send_buffer_bytes"`
}

// receivedReport is what the server counted.
type receivedReport struct {
	// Datagrams of the size that was sent, and how long they came for.
	Datagrams       uint64  `json:"datagrams"`
	DatagramBytes   int     `json:"datagram_bytes"`
	DatagramSeconds float64 `json:"datagram_seconds"`
	// Bytes of the transfer, and how long they came for.
	Bytes   uint64  `json:"bytes"`
	Seconds float64 `json:"seconds"`
	// Buffer is how far a socket's receive buffer may grow, in bytes.
	Buffer uint64 `json:"receive_buffer_bytes"`
}

// headers of the path's packets, in bytes.
type headers struct{ udp, tcp int }

func headersOf(version6 bool) headers {
	if version6 {
		return headers{48, model.TCPHeadersIPv6}
	}
	return headers{28, model.TCPHeadersIPv4}
}

// judge works the metrics out.
func judge(c trial.Condition, six bool, sent sentReport, got receivedReport) (traffic.Sample, error) {
	if sent.Baseline <= 0 || sent.Average <= 0 || sent.Transmitted == 0 || sent.Retransmitted > sent.Transmitted || sent.MTU <= model.TCPHeadersIPv6 {
		return traffic.Sample{}, fmt.Errorf("the client's counts cannot be: %+v", sent)
	}
	if got.Bytes == 0 || got.Seconds <= 0 {
		return traffic.Sample{}, fmt.Errorf("nothing of the transfer arrived: %+v", got)
	}
	h := headersOf(six)
	frames, err := framesOf(c, sent.MTU, got, h)
	if err != nil {
		return traffic.Sample{}, err
	}
	bandwidth := model.LineBandwidth(frames, sent.MTU)
	most := model.AchievableTCP(frames, sent.MTU, h.tcp)
	product := model.BandwidthDelayProduct(bandwidth, sent.Baseline/1e6)
	ratio := model.TransferTimeRatio(got.Seconds, float64(got.Bytes), most)
	const us = 1e3
	s := traffic.Sample{Histograms: map[string]string{}, Metrics: map[string]float64{
		"goodput_bps":          8 * float64(got.Bytes) / got.Seconds,
		"transfer_time_ratio":  ratio,
		"tcp_efficiency_ratio": model.TCPEfficiency(float64(sent.Transmitted), float64(sent.Retransmitted)),
		"buffer_delay_ratio":   max(0, model.BufferDelay(sent.Average, sent.Baseline)),
		"baseline_rtt_ns":      us * sent.Baseline, "average_rtt_ns": us * sent.Average,
		"bottleneck_bps": bandwidth, "achievable_bps": most, "delay_product_bytes": product,
		"path_mtu_bytes": float64(sent.MTU), "retransmitted_bytes": float64(sent.Retransmitted),
	}}
	s.Warnings = warnings(c, ratio, product, min(sent.Buffer, got.Buffer))
	return s, nil
}

// framesOf the bottleneck a second: of the bandwidth that is known, or as many
// datagrams as arrived.
func framesOf(c trial.Condition, mtu int, got receivedReport, h headers) (float64, error) {
	if c.OfferedBps > 0 {
		return model.LineFrames(c.OfferedBps, mtu), nil
	}
	if got.Datagrams < 2 || got.DatagramSeconds <= 0 {
		return 0, errors.New("no UDP arrived to measure the bottleneck's bandwidth with; a path without UDP needs --rate, the bandwidth of its bottleneck")
	}
	// The first datagram opens the time in which the others came.
	perSecond := float64(got.Datagrams-1) / got.DatagramSeconds
	size := got.DatagramBytes + h.udp
	return model.LineFrames(model.LineBandwidth(perSecond, size), mtu), nil
}

func warnings(c trial.Condition, ratio, product float64, buffer uint64) (w []string) {
	if c.DurationS <= shortest {
		w = append(w, fmt.Sprintf("RFC 6349 wants transfers longer than %d s (§5): %v s deviates", shortest, c.DurationS))
	}
	if buffer > 0 && float64(buffer) < product/float64(c.Flows) {
		w = append(w, fmt.Sprintf("a socket's buffer cannot hold the bandwidth-delay product (RFC 6349 §3.3.1): it grows to %d bytes, and %.0f are needed", buffer, product/float64(c.Flows)))
	}
	if ratio < 1 {
		w = append(w, "TCP was faster than UDP showed the bottleneck to be: where nothing limits the rate, the processor does, and it carries less UDP; --rate tells the bottleneck's bandwidth")
	}
	return w
}
