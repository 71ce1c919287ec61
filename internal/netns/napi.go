package netns

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	vnetns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Of linux/netdev.h: the family, the request for what takes packets off an interface's
// queues, and of the answer the thread that does it.
const (
	netdevFamily = "netdev"
	napiGet      = 11 // NETDEV_CMD_NAPI_GET
	napiIfindex  = 1  // NETDEV_A_NAPI_IFINDEX
	napiPID      = 4  // NETDEV_A_NAPI_PID
)

// errNoNAPI is for kernels that do not know the request.
var errNoNAPI = fmt.Errorf("the kernel does not tell which threads an interface has; Linux 6.8 or newer does: %w", unix.EOPNOTSUPP)

// NAPIThreads are the kernel's threads that take packets off the queues of an interface, by
// their process numbers; none where softirqs do, or where the interface is down.
func (h *Handle) NAPIThreads(index int) (threads []int, err error) {
	answers, err := h.askNAPI(index)
	if err != nil {
		return nil, fmt.Errorf("ask for the threads of interface %d in namespace %q: %w", index, h.Ref, err)
	}
	for _, attributes := range answers {
		for _, a := range attributes {
			if a.Attr.Type == napiPID {
				threads = append(threads, int(binary.NativeEndian.Uint32(a.Value)))
			}
		}
	}
	return threads, nil
}

// askNAPI dumps what takes packets off an interface's queues.
func (h *Handle) askNAPI(index int) (answers [][]attribute, err error) {
	var socket *nl.NetlinkSocket
	err = offMain(func() (err error) {
		socket, err = nl.GetNetlinkSocketAt(vnetns.NsHandle(h.file.Fd()), vnetns.None(), unix.NETLINK_GENERIC)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	family, err := familyOf(socket, netdevFamily)
	if err == nil {
		answers, err = generic(socket, family, napiGet, unix.NLM_F_DUMP, nl.NewRtAttr(napiIfindex, nl.Uint32Attr(uint32(index))))
	}
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, errNoNAPI
	}
	return answers, err
}
