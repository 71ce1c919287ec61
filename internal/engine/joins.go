package engine

import (
	"fmt"
	"net"
	"os"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// sharesMounts tells whether who listens at the other end has the mounts that this process has, so that a network namespace is the same by
// its name to both. Who is in another mount namespace need not see what is mounted here later, which is what a name of one is
// (mount_namespaces(7)), and who is on another machine, or numbers processes otherwise, does not.
func sharesMounts(c *net.UnixConn) bool {
	is, err := rundir.Peer(c)
	if err != nil {
		return false
	}
	own, err := os.Stat("/proc/self/ns/mnt")
	if err != nil {
		return false
	}
	its, err := os.Stat(fmt.Sprintf("/proc/%d/ns/mnt", is.Pid))
	return err == nil && os.SameFile(own, its)
}
