package function

import "slices"

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
	if Tracks(stateful, matches...) {
		return tracks
	}
	return ""
}

// Tracks tells whether what matches packets asks which connection they are of.
func Tracks(stateful bool, matches ...Match) bool {
	return stateful || slices.ContainsFunc(matches, func(m Match) bool { return len(m.State) > 0 })
}

// AnsweredIf gives why a function must see both ways if it tracks connections, or "".
func AnsweredIf(tracks bool) string {
	if tracks {
		return "it knows connections by what goes there and what comes back"
	}
	return ""
}

// AnsweredTranslating is why a function that gives connections other addresses must see both ways.
const AnsweredTranslating = "it translates answers back"
