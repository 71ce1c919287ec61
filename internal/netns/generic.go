package netns

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

type attribute = syscall.NetlinkRouteAttr

// genericHeader is struct genlmsghdr of linux/genetlink.h: command, version, and two bytes
// that must be 0. (The library's leaves out the last two, and sends what comes after it in
// memory.)
type genericHeader [4]byte

func (genericHeader) Len() int            { return len(genericHeader{}) }
func (h genericHeader) Serialize() []byte { return h[:] }

// generic makes a request to a family of generic netlink and gives the attributes of each answer.
func generic(socket *nl.NetlinkSocket, family uint16, command byte, flags int, data nl.NetlinkRequestData) (answers [][]attribute, err error) {
	r := nl.NewNetlinkRequest(int(family), flags)
	r.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_GENERIC: {Socket: socket}}
	r.AddData(genericHeader{command, 1})
	r.AddData(data)
	messages, err := r.Execute(unix.NETLINK_GENERIC, 0)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		attributes, err := nl.ParseRouteAttr(m[len(genericHeader{}):])
		if err != nil {
			return nil, err
		}
		answers = append(answers, attributes)
	}
	return answers, nil
}

// familyOf a name is its number; ENOENT where the kernel has none.
func familyOf(socket *nl.NetlinkSocket, name string) (uint16, error) {
	answers, err := generic(socket, nl.GENL_ID_CTRL, nl.GENL_CTRL_CMD_GETFAMILY, 0, nl.NewRtAttr(nl.GENL_CTRL_ATTR_FAMILY_NAME, nl.ZeroTerminated(name)))
	if err != nil {
		return 0, err
	}
	for _, attributes := range answers {
		for _, a := range attributes {
			if a.Attr.Type == nl.GENL_CTRL_ATTR_FAMILY_ID {
				return binary.NativeEndian.Uint16(a.Value), nil
			}
		}
	}
	return 0, fmt.Errorf("the kernel does not tell the number of the family %s", name)
}
