package traffic

import (
	"net/netip"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
)

// TestExitSaysWhatIsMissing: an interface that is not there is no missing route.
func TestExitSaysWhatIsMissing(t *testing.T) {
	nstest.Root(t)
	name := nstest.Namespace(t)
	h, to := nstest.Open(t, name), netip.MustParseAddr("198.51.100.1")
	if _, err := ExitTo(h, to, "eth9"); err == nil || !strings.HasPrefix(err.Error(), `there is no interface "eth9" in "`+name+`"; `) {
		t.Error(err)
	}
	if _, err := ExitTo(h, to, ""); err == nil || !strings.HasPrefix(err.Error(), `there is no route to 198.51.100.1 in "`+name+`": `) {
		t.Error(err)
	}
}
