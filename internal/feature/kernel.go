package feature

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// part is a part of the kernel that may be left out when it is built.
type part struct {
	what   string // "link kind ipvlan"
	module string // "ipvlan"
	config string // "CONFIG_IPVLAN"
}

// grantsWithin is how many times as long as others the kernel may take: what makes interfaces waits for a lock of its own, which whoever
// takes many namespaces down holds for seconds.
const grantsWithin = 6

// try runs fn in a scratch namespace and makes an answer of its error.
func (p part) try(ctx context.Context, env Env, fn func() error) answer {
	ctx, cancel := context.WithTimeout(ctx, grantsWithin*env.timeout())
	defer cancel()
	return p.answer(env, inScratch(ctx, fn))
}

func (p part) answer(env Env, err error) answer {
	switch {
	case err == nil:
		return yes("")
	case errors.Is(err, errNoScratch):
		return no("cannot be asked: "+err.Error(), env.rootFix())
	case errors.Is(err, context.DeadlineExceeded):
		return no(fmt.Sprintf("hangs: the kernel did not answer within %v", grantsWithin*env.timeout()), "see dmesg")
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return no("the kernel refuses "+p.what+": "+err.Error(), env.rootFix())
	case unsupported(err):
		return no("this kernel has no "+p.what+" ("+err.Error()+")", p.fix(env))
	default:
		return no(p.what+": "+err.Error(), "see dmesg")
	}
}

// unsupported tells the errors by which the kernel says that it does not know a
// kind: link kinds and BPF give EOPNOTSUPP or EINVAL, qdiscs and nftables
// expressions ENOENT, netlink families EPROTONOSUPPORT.
func unsupported(err error) bool {
	for _, errno := range []syscall.Errno{
		unix.EOPNOTSUPP, unix.ENOENT, unix.EINVAL, unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT, unix.ENOSYS,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// fix says how to get the part: a module where modules can be loaded, else
// another kernel.
func (p part) fix(env Env) string {
	switch {
	case p.module == "" || !env.Files.Exists("proc/modules"):
		return "a kernel built with " + p.config
	case env.distribution() == "ubuntu":
		// Ubuntu keeps the rarer modules in a package of their own.
		release, _ := env.Files.Text("proc/sys/kernel/osrelease")
		return "apt-get install linux-modules-extra-" + release + " && modprobe " + p.module
	default:
		return "modprobe " + p.module + ", or a kernel built with " + p.config
	}
}

// netnsPart is asked for alone: all others need it.
var netnsPart = part{"network namespaces", "", "CONFIG_NET_NS"}

func askNetNS(ctx context.Context, env Env) answer {
	return netnsPart.try(ctx, env, func() error { return nil })
}
