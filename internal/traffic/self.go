package traffic

import "nfchain.dev/nfchain/internal/netns"

// Self is a command line that runs this binary again, as one of its hidden commands.
func Self(args ...string) []string { return append([]string{netns.Image()}, args...) }
