package function

// Shareable is a kind that chains of several tenants can go through at once, in one
// namespace, without meeting: it has no address, no program and no memory of packets.
type Shareable interface {
	Kind
	// Shares gives why it cannot be shared with certain options, or "".
	Shares(options any) string
}

// tracks is why what tells connections by their addresses is not shared.
const tracks = "it tracks connections, and those of tenants with the same addresses would be one"

// SharedUnless gives why what matches packets cannot be shared, or "".
func SharedUnless(stateful bool, matches ...Match) string {
	for _, m := range matches {
		stateful = stateful || len(m.State) > 0
	}
	if stateful {
		return tracks
	}
	return ""
}
