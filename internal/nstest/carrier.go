package nstest

import (
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// Carries waits until an interface carries packets: one that was just raised drops what
// it is given until the kernel has noticed its carrier.
func Carries(tb testing.TB, h *netns.Handle, device string) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		l, err := h.LinkByName(device)
		if err != nil {
			tb.Fatal(err)
		}
		if l.Attrs().OperState == netlink.OperUp {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("%s in %q is %s", device, h.Ref, l.Attrs().OperState)
		}
	}
}
