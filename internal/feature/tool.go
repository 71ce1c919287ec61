package feature

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
)

// tool is an external program that can say its version.
type tool struct {
	name, enables string
	command
	// version finds the version in what the program prints; a program of the same
	// name that prints something else is another program.
	version *regexp.Regexp
	// debian is the package that brings it.
	debian string
}

// least are the first versions that will do, where not any does.
var least = map[string]string{ToolOVS: "2.17"}

func tools() []tool {
	return []tool{
		{ToolIP, "plans as shell scripts", run("ip", "-V"), match(`iproute2-([^\s,]+)`), "iproute2"},
		{ToolTC, "plans as shell scripts: shapers", run("tc", "-V"), match(`tc utility, iproute2-([^\s,]+)`), "iproute2"},
		{ToolNFT, "plans as shell scripts: nftables firewalls", run("nft", "--version"), match(`nftables v(\S+)`), "nftables"},
		{ToolIperf3, "traffic tool iperf3: TCP and UDP goodput", run("iperf3", "--version"), match(`(?m)^iperf (3\S*)`), "iperf3"},
		{ToolSockp, "traffic tool sockperf: latency percentiles", run("sockperf", "--version"), match(`sockperf, version (\S+)`), "sockperf"},
		{ToolPing, "traffic tool ping: round trips", run("ping", "-V"), match(`iputils[ -]s?(\d+)`), "iputils-ping"},
		{ToolFping, "traffic tool fping: round trips", run("fping", "--version"), match(`fping: Version (\S+)`), "fping"},
		{ToolNetperf, "traffic tool netperf: goodput and transactions", run("netperf", "-V"), match(`Netperf version (\S+)`), "netperf (Debian 12 has it in its section non-free, later ones in main)"},
		{ToolEthtool, "plans as shell scripts: offloads", run("ethtool", "--version"), match(`ethtool version (\S+)`), "ethtool"},
		{ToolOVS, "wiring ovs", run("ovs-vswitchd", "--version"), match(`\(Open vSwitch\) (\S+)`), "openvswitch-switch"},
		{ToolBuildah, "images built from Dockerfiles for engines that build none", run("buildah", "--version"), match(`buildah version (\S+)`), "buildah"},
		{ToolQEMU, "functions in virtual machines", run(qemu(), "--version"), match(`QEMU emulator version (\S+)`), "qemu-system"},
		// --help keeps testpmd from starting its environment, which would leave files.
		{ToolTestpmd, "functions and traffic on DPDK", run("dpdk-testpmd", "-v", "--help"), match(`DPDK ([0-9][^\s']*)`), "dpdk-dev"},
	}
}

func run(program string, args ...string) command { return command{program: program, args: args} }

func match(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

// qemu names the emulator of this machine's own processor.
func qemu() string {
	if runtime.GOARCH == "arm64" {
		return "qemu-system-aarch64"
	}
	return "qemu-system-x86_64"
}

func (t tool) question() question { return question{t.name, t.enables, t.ask} }

func (t tool) ask(ctx context.Context, env Env) answer {
	out, err := env.output(ctx, t.command)
	if err != nil {
		return t.failed(err)
	}
	found := t.version.FindStringSubmatch(out)
	if found == nil {
		path, _ := env.look(t.program)
		return no(path+" prints no version that can be read: "+excerpt(out), t.reinstall())
	}
	if older(found[1], least[t.name]) {
		a := no(fmt.Sprintf("%s is version %s, and %s is the first that will do", t.program, found[1], least[t.name]), "install a later release of your distribution's package "+t.debian)
		a.detail = found[1]
		return a
	}
	return yes(found[1])
}

// older tells whether a version comes before another, by the numbers that their parts
// begin with.
func older(version, least string) bool {
	have := strings.Split(version, ".")
	for i, part := range strings.Split(least, ".") {
		var has, needs int
		if i < len(have) {
			_, _ = fmt.Sscanf(have[i], "%d", &has)
		}
		_, _ = fmt.Sscanf(part, "%d", &needs)
		if has != needs {
			return has < needs
		}
	}
	return false
}

// failed explains a tool that gave no version.
func (t tool) failed(err error) answer {
	var outside outsidePath
	switch {
	case errors.As(err, &outside):
		return no(err.Error(), outside.fix())
	case errors.Is(err, errNotFound):
		return no(err.Error(), "apt-get install "+t.debian)
	default:
		return no(err.Error(), t.reinstall())
	}
}

func (t tool) reinstall() string { return "apt-get install --reinstall " + t.debian }
