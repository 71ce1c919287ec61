package feature

import (
	"context"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

var (
	peerPart   = part{"BPF programs that redirect to the far end of a veth (Linux 5.10 and later)", "", "CONFIG_BPF_SYSCALL"}
	clsactPart = part{"classifier bpf at the queueing discipline clsact", "cls_bpf", "CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS"}
)

// redirectPeer is the number of bpf_redirect_peer() in linux/bpf.h. A kernel that does not know it
// refuses a program that calls it.
const redirectPeer = 155

func askPeer(ctx context.Context, env Env) answer {
	return peerPart.try(ctx, env, func() error {
		// r1 = 1; r2 = 0; call; exit
		prog, err := load(unix.BPF_PROG_TYPE_SCHED_CLS, []instruction{
			{code: 0xb7, registers: 1, immediate: 1}, {code: 0xb7, registers: 2}, {code: 0x85, immediate: redirectPeer}, {code: 0x95},
		})
		if err != nil {
			return fmt.Errorf("load a BPF program: %w", err)
		}
		return unix.Close(prog)
	})
}

// askIngress is content with either hook; where there is none it says what the older one lacks.
func askIngress(ctx context.Context, env Env) answer {
	if askTCX(ctx, env).present {
		return yes("tcx")
	}
	a := askClsact(ctx, env)
	if a.present {
		a.detail = "clsact"
	}
	return a
}

func askClsact(ctx context.Context, env Env) answer {
	return clsactPart.try(ctx, env, func() error {
		index, err := addVeth()
		if err != nil {
			return err
		}
		prog, err := loadNothing(unix.BPF_PROG_TYPE_SCHED_CLS)
		if err != nil {
			return fmt.Errorf("load a BPF program: %w", err)
		}
		defer func() { _ = unix.Close(prog) }()
		at := netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}
		if err := netlink.QdiscAdd(&netlink.Clsact{QdiscAttrs: at}); err != nil {
			return err
		}
		return netlink.FilterAdd(&netlink.BpfFilter{
			FilterAttrs: netlink.FilterAttrs{LinkIndex: index, Parent: netlink.HANDLE_MIN_INGRESS, Priority: 1, Protocol: unix.ETH_P_ALL},
			Fd:          prog, Name: "nothing", DirectAction: true,
		})
	})
}
