package netns

import (
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	vnetns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Handle is a namespace held open with an rtnetlink socket inside it, so that it
// is read and changed without being entered.
type Handle struct {
	Ref  string
	file *os.File
	*netlink.Handle
	// raw is a socket for requests that the library has no call for.
	raw *nl.NetlinkSocket
}

// Open holds a namespace open.
func Open(ref string) (*Handle, error) {
	file, err := open(ref)
	if err != nil {
		return nil, err
	}
	var nl *netlink.Handle
	err = offMain(func() (err error) {
		nl, err = netlink.NewHandleAt(vnetns.NsHandle(file.Fd()), unix.NETLINK_ROUTE)
		return err
	})
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("open rtnetlink in namespace %q: %w", ref, err)
	}
	return &Handle{Ref: ref, file: file, Handle: nl}, nil
}

// FD of the namespace, valid until Close.
func (h *Handle) FD() int { return int(h.file.Fd()) }

// Do runs fn inside the namespace; see [Do].
func (h *Handle) Do(fn func() error) error { return Do(h.Ref, fn) }

// Request begins an rtnetlink request in the namespace, for what the library has no
// call for.
func (h *Handle) Request(message, flags int) (*nl.NetlinkRequest, error) {
	if h.raw == nil {
		err := offMain(func() (err error) {
			h.raw, err = nl.GetNetlinkSocketAt(vnetns.NsHandle(h.file.Fd()), vnetns.None(), unix.NETLINK_ROUTE)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	r := nl.NewNetlinkRequest(message, flags)
	r.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_ROUTE: {Socket: h.raw}}
	return r, nil
}

// Elsewhere describes an interface of another namespace, which this one knows by
// the number nsid (ip-netns(8)).
func (h *Handle) Elsewhere(nsid, index int) (netlink.Link, error) {
	r, err := h.Request(unix.RTM_GETLINK, 0)
	if err != nil {
		return nil, err
	}
	about := nl.NewIfInfomsg(unix.AF_UNSPEC)
	about.Index = int32(index)
	r.AddData(about)
	r.AddData(nl.NewRtAttr(unix.IFLA_TARGET_NETNSID, nl.Uint32Attr(uint32(nsid))))
	answers, err := r.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWLINK)
	if err != nil {
		return nil, err
	}
	if len(answers) != 1 {
		return nil, fmt.Errorf("%d interfaces have number %d", len(answers), index)
	}
	return netlink.LinkDeserialize(nil, answers[0])
}

// Close gives the namespace and the socket back.
func (h *Handle) Close() {
	h.Handle.Close()
	if h.raw != nil {
		h.raw.Close()
	}
	_ = h.file.Close()
}
