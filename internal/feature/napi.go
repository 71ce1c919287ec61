package feature

import (
	"context"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
)

var napiPart = part{"request for an interface's threads", "", "CONFIG_NET, of Linux 6.8 or newer"}

// loopback is the number that the loopback interface has in every namespace.
const loopback = 1

// askNAPIThreads looks whether the kernel tells which threads an interface has, and whether
// they are to be seen and bound here: their numbers are those of the machine's own PID namespace.
func askNAPIThreads(ctx context.Context, env Env) answer {
	if !askRoot(ctx, env).present {
		return no("only root may bind the kernel's threads", env.rootFix())
	}
	if name, _ := env.Files.Text("proc/2/comm"); strings.TrimSpace(name) != "kthreadd" {
		return no("the kernel's threads are not to be seen in this PID namespace", "run nfchain in the machine's own PID namespace")
	}
	h, err := netns.Open(netns.Host)
	if err != nil {
		return napiPart.answer(env, err)
	}
	defer h.Close()
	_, err = h.NAPIThreads(loopback)
	return napiPart.answer(env, err)
}
