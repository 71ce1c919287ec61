package feature

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// gate is a setting by which a system forbids user namespaces to those without
// privileges.
type gate struct {
	sysctl   string
	shut     string // its value when it forbids them
	why, fix string
}

var gates = []gate{
	{"user/max_user_namespaces", "0", "this system allows no user namespaces", "sysctl -w user.max_user_namespaces=10000"},
	// Debian's own setting, kept by Ubuntu.
	{"kernel/unprivileged_userns_clone", "0", "this system keeps user namespaces for root",
		"sysctl -w kernel.unprivileged_userns_clone=1"},
	// Ubuntu 23.10 and later: the namespace is made, but without its capabilities.
	{"kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor keeps capabilities from user namespaces of programs without a profile",
		"sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
}

// askUserNS makes a user namespace. Root may where others may not, so for root
// the settings count too.
func askUserNS(ctx context.Context, env Env) answer {
	closed := env.closedGate()
	if os.Geteuid() == 0 && closed != nil {
		return no(closed.say(), closed.fix)
	}
	err := error(nil)
	if env.real() {
		err = makeUserNS(ctx, env)
	}
	switch {
	case err == nil:
		return yes("")
	case closed != nil:
		return no(closed.say(), closed.fix)
	default:
		return no("a user namespace is refused: "+err.Error(),
			"allow it in what confines this process (a container's seccomp profile, a chroot), or run as root")
	}
}

func (g gate) say() string { return fmt.Sprintf("%s (%s = %s)", g.why, g.sysctl, g.shut) }

func (e Env) closedGate() *gate {
	for _, g := range gates {
		if value, ok := e.Files.Text("proc/sys/" + g.sysctl); ok && value == g.shut {
			return &g
		}
	}
	return nil
}

// makeUserNS starts the program "true" in a user namespace of its own, after a
// change of root to the same root: that needs a capability inside, which AppArmor
// withholds later than the namespace itself.
func makeUserNS(ctx context.Context, env Env) error {
	path, err := env.look("true")
	if err != nil {
		return nil // nothing to try it with; the settings have spoken
	}
	ctx, cancel := context.WithTimeout(ctx, env.timeout())
	defer cancel()
	runtime.LockOSThread() // for Pdeathsig
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Chroot:      "/",
		Pdeathsig:   syscall.SIGKILL,
	}
	return cmd.Run()
}
