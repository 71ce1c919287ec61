package trial

// FragmentCounts is how many packets a node cut into fragments and put together again
// during a trial, of IPv4 and IPv6 together, as the kernel counts them for its whole
// namespace (RFC 4293: ipSystemStatsTable).
type FragmentCounts struct {
	Node string `json:"node"`
	// Fragmented packets were cut up, into as many fragments as were Created.
	Fragmented uint64 `json:"fragmented_packets"`
	Created    uint64 `json:"created_fragments"`
	// Received fragments came, and Reassembled packets were made of them; Failed is how
	// often the kernel gave one up, because a fragment was missing or too many waited.
	Received    uint64 `json:"received_fragments"`
	Reassembled uint64 `json:"reassembled_packets"`
	Failed      uint64 `json:"failed_reassemblies"`
}
