package feature

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// rootFix is the way to have the privileges that most things need. What is still
// refused in a user namespace takes the machine's own root.
func (e Env) rootFix() string {
	if e.InUserNS() {
		return "run as root of the machine, not of a user namespace"
	}
	return "run as root, or in a user namespace: unshare --user --map-root-user --net --mount COMMAND"
}

func askRoot(_ context.Context, env Env) answer {
	switch {
	case os.Geteuid() != 0:
		return no(fmt.Sprintf("running as user %d", os.Geteuid()), "sudo nfchain …")
	case env.InUserNS():
		return no("root only of a user namespace", "sudo nfchain …")
	default:
		return yes("")
	}
}

func askNetAdmin(_ context.Context, env Env) answer {
	if capable(unix.CAP_NET_ADMIN) {
		return yes("")
	}
	return no("CAP_NET_ADMIN is not held", env.rootFix())
}

// InUserNS tells whether this process runs in a user namespace other than the
// machine's first, which alone maps every user to itself.
func (e Env) InUserNS() bool {
	m := e.usersMapped()
	return m != "" && m != "0 0 4294967295"
}

// ofOneUser tells whether this process runs in a user namespace of a single user, as this program makes one: an engine runs in another.
func (e Env) ofOneUser() bool {
	m := strings.Fields(e.usersMapped())
	return len(m) == 3 && m[2] == "1"
}

// usersMapped are those of the process's user namespace, as the kernel tells them but for spaces; "" where it does not.
func (e Env) usersMapped() string {
	m, _ := e.Files.Text("proc/self/uid_map")
	return strings.Join(strings.Fields(m), " ")
}

// capable tells whether a capability is effective. Every thread of this program
// holds the same.
func capable(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}

// worthSaying are the capabilities whose absence changes what can be done or
// measured, by their names.
var worthSaying = []struct {
	name       string
	capability int
}{
	{"net_admin", unix.CAP_NET_ADMIN},
	{"net_raw", unix.CAP_NET_RAW},
	{"sys_admin", unix.CAP_SYS_ADMIN},
	{"sys_nice", unix.CAP_SYS_NICE},
	{"sys_resource", unix.CAP_SYS_RESOURCE},
	{"bpf", unix.CAP_BPF},
	{"perfmon", unix.CAP_PERFMON},
}

// privileges says in words what this process may do.
func (e Env) privileges() string {
	var lacking []string
	for _, c := range worthSaying {
		if !capable(c.capability) {
			lacking = append(lacking, c.name)
		}
	}
	who := "user"
	if os.Geteuid() == 0 {
		who = "root"
	}
	if e.InUserNS() {
		who += " in a user namespace"
	}
	switch len(lacking) {
	case 0:
		return who
	case len(worthSaying):
		return who + " without capabilities"
	default:
		return who + " without " + strings.Join(lacking, ", ")
	}
}
