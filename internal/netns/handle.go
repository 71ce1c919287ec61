package netns

import (
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	vnetns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Handle is a namespace held open with an rtnetlink socket inside it, so that it
// is read and changed without being entered.
type Handle struct {
	Ref  string
	file *os.File
	*netlink.Handle
}

// Open holds a namespace open.
func Open(ref string) (*Handle, error) {
	file, err := os.Open(Path(ref))
	if err != nil {
		return nil, fmt.Errorf("open network namespace %q: %w", ref, err)
	}
	nl, err := netlink.NewHandleAt(vnetns.NsHandle(file.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("open rtnetlink in namespace %q: %w", ref, err)
	}
	return &Handle{Ref: ref, file: file, Handle: nl}, nil
}

// FD of the namespace, valid until Close.
func (h *Handle) FD() int { return int(h.file.Fd()) }

// Do runs fn inside the namespace; see [Do].
func (h *Handle) Do(fn func() error) error { return Do(h.Ref, fn) }

// Close gives the namespace and the socket back.
func (h *Handle) Close() {
	h.Handle.Close()
	h.file.Close()
}
