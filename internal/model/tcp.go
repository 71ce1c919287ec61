package model

// EthernetOverhead is what a frame takes of the line beside its IP packet, in
// bytes: header, check sequence, preamble and the gap between frames (RFC 2544
// appendix B).
const EthernetOverhead = 38

// The headers of IP and TCP without options, in bytes.
const (
	TCPHeadersIPv4 = 40
	TCPHeadersIPv6 = 60
)

// LineFrames is how many frames a second of packets as large as the MTU, in bytes, a
// line of a bandwidth in bit/s carries (RFC 6349 §4.1, for Ethernet).
func LineFrames(bandwidth float64, mtu int) float64 {
	return bandwidth / (8 * float64(mtu+EthernetOverhead))
}

// LineBandwidth is the bandwidth, in bit/s, that so many frames a second of packets
// as large as the MTU take: the inverse of [LineFrames].
func LineBandwidth(frames float64, mtu int) float64 {
	return frames * 8 * float64(mtu+EthernetOverhead)
}

// AchievableTCP is the maximum achievable TCP throughput in bit/s where frames a
// second of packets as large as the MTU get through (RFC 6349 §4.1). Headers are
// those of IP and TCP, in bytes.
func AchievableTCP(frames float64, mtu, headers int) float64 {
	return frames * 8 * float64(mtu-headers)
}

// BandwidthDelayProduct in bytes, of a bandwidth in bit/s and a round-trip time in
// seconds (RFC 6349 §3.3.1): buffers must hold it.
func BandwidthDelayProduct(bandwidth, rtt float64) float64 { return bandwidth * rtt / 8 }

// TransferTimeRatio is the actual transfer time over the ideal one: the time that
// the bytes would take at the achievable throughput, in bit/s (RFC 6349 §4.1). 1 is
// ideal, more is slower.
func TransferTimeRatio(seconds, bytes, achievable float64) float64 {
	return seconds / (8 * bytes / achievable)
}

// TCPEfficiency is the share of the bytes transmitted, retransmissions among them,
// that were no retransmissions (RFC 6349 §4.2), 0 to 1.
func TCPEfficiency(transmitted, retransmitted float64) float64 {
	return (transmitted - retransmitted) / transmitted
}

// BufferDelay is by what share of the baseline round-trip time the average one
// during a transfer exceeds it (RFC 6349 §4.3): 0.28 is 28%.
func BufferDelay(average, baseline float64) float64 { return (average - baseline) / baseline }
