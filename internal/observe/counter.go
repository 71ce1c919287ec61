package observe

// grown is how much a counter grew. A counter that fell was either 32 bits wide
// and wrapped, which is taken from its being close to that edge before and far
// below it after, or was reset; then the count since the reset is given, which is
// the least it can be.
func grown(before, after uint64) uint64 {
	const (
		edge    = 1 << 32
		quarter = edge / 4
	)
	switch {
	case after >= before:
		return after - before
	case before < edge && before >= edge-quarter && after < quarter:
		return after + edge - before
	default:
		return after
	}
}
