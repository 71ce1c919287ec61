package feature

import (
	"context"
	"strings"
)

var pktgenPart = part{"packet generator pktgen", "pktgen", "CONFIG_NET_PKTGEN"}

// askPktgen looks for its files: a module is not loaded by looking for them, and cannot
// be asked for otherwise.
func askPktgen(_ context.Context, env Env) answer {
	const control = "proc/net/pktgen/pgctrl"
	if !env.Files.Exists(control) {
		return no("this kernel has no "+pktgenPart.what+", or has not loaded it (/"+control+" is not there)", pktgenPart.fix(env))
	}
	text, _ := env.Files.Text(control)
	_, version, _ := strings.Cut(text, "Version: ")
	return yes(version)
}
