package feature

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What the tools print of themselves, on Debian 12 unless told.
var versionTexts = []struct{ name, printed, version string }{
	{ToolIP, "ip utility, iproute2-6.1.0, libbpf 1.1.2", "6.1.0"},
	{ToolIP, "ip utility, iproute2-5.15.0", "5.15.0"},
	{ToolIP, "BusyBox v1.35.0 (Debian 1:1.35.0-4+b3) multi-call binary.", ""},
	{ToolTC, "tc utility, iproute2-6.1.0, libbpf 1.1.2", "6.1.0"},
	{ToolNFT, "nftables v1.0.6 (Lester Gooch #5)", "1.0.6"},
	{ToolIperf3, "iperf 3.12 (cJSON 1.7.15)\nLinux vm 6.18", "3.12"},
	{ToolIperf3, "iperf version 2.1.8 (12 August 2022) pthreads", ""},
	{ToolSockp, "sockperf, version 3.7-no.git \n   compiled", "3.7-no.git"},
	{ToolPing, "ping from iputils 20221126\nlibcap: yes", "20221126"},
	{ToolPing, "ping utility, iputils-s20190709", "20190709"},
	{ToolPing, "ping (GNU inetutils) 2.4", ""},
	{ToolFping, "fping: Version 5.1", "5.1"},
	{ToolNetperf, "Netperf version 2.7.0", "2.7.0"},
	{ToolEthtool, "ethtool version 6.1", "6.1"},
	{ToolOVS, "ovs-vswitchd (Open vSwitch) 3.1.0", "3.1.0"},
	{ToolOVS, "ovs-vswitchd (Open vSwitch) 2.17.9", "2.17.9"},
	{ToolQEMU, "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)", "7.2.22"},
	{ToolTestpmd, "EAL: Detected NUMA nodes: 1\nEAL: RTE Version: 'DPDK 22.11.11'\n", "22.11.11"},
}

func TestToolVersions(t *testing.T) {
	for _, c := range versionTexts {
		for _, tool := range tools() {
			if tool.name != c.name {
				continue
			}
			env := bin(t, map[string]string{tool.program: "cat <<'END'\n" + c.printed + "\nEND"})
			env.Path += ":/bin" // for cat
			a := tool.ask(t.Context(), env)
			if a.present != (c.version != "") || a.detail != c.version {
				t.Errorf("%s printing %q: %+v", c.name, c.printed, a)
			}
		}
	}
}

// TestToolTooOld: it is there, and will not do.
func TestToolTooOld(t *testing.T) {
	env := bin(t, map[string]string{"ovs-vswitchd": "echo 'ovs-vswitchd (Open vSwitch) 2.9.8'"})
	f := Probe(t.Context(), env).Get(ToolOVS)
	if f.Present || f.Detail != "2.9.8" || !strings.Contains(f.Why, "2.17") || f.Fix == "" {
		t.Errorf("got %+v", f)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		version, least string
		older          bool
	}{{"3.1.0", "2.17", false}, {"2.17", "2.17", false}, {"2.17.1", "2.17", false}, {"2.9", "2.17", true}, {"1.20", "2.17", true}, {"2", "2.17", true}, {"2.18-rc1", "2.17", false}, {"1", "", false}} {
		if got := older(c.version, c.least); got != c.older {
			t.Errorf("%s before %s: %v", c.version, c.least, got)
		}
	}
}

func TestToolsThatFail(t *testing.T) {
	cases := map[string]struct{ script, why, fix string }{
		"hanging":       {"sleep 600", "hangs: no answer within 300ms", "apt-get install --reinstall iperf3"},
		"deaf":          {"trap '' TERM INT PIPE; while :; do sleep 1; done", "hangs", ""},
		"rubbish":       {`printf '\033[31m\000\377rubbish'`, `iperf3 prints no version that can be read: "\x1b[31m`, ""},
		"silent":        {":", "no version that can be read", ""},
		"endless":       {"while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", "prints without end", ""},
		"failing":       {"echo no such library >&2; exit 127", `exit status 127: "no such library"`, ""},
		"leaving a son": {"sleep 600 & echo nothing", "leaves a process behind", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := bin(t, map[string]string{"iperf3": c.script})
			env.Timeout = 5 * time.Minute
			if strings.HasPrefix(c.why, "hangs") {
				env.Timeout = 300 * time.Millisecond
			}
			env.Path += ":/bin:/usr/bin"
			start := time.Now()
			f := Probe(t.Context(), env).Get(ToolIperf3)
			if f.Present || !strings.Contains(f.Why, c.why) || !strings.Contains(f.Fix, c.fix) {
				t.Errorf("got %+v", f)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestToolNotFound(t *testing.T) {
	env := bin(t, nil)
	f := Probe(t.Context(), env).Get(ToolIperf3)
	if f.Present || f.Why != "iperf3 not found in PATH" || f.Fix != "apt-get install iperf3" {
		t.Errorf("got %+v", f)
	}
	writeFile(t, filepath.Join(env.Path, "iperf3"), "not a program", 0o644)
	if err := os.Mkdir(filepath.Join(env.Path, "fping"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := Probe(t.Context(), env)
	if s.Has(ToolIperf3) || s.Has(ToolFping) {
		t.Error("a file or directory that cannot be run counts as a tool")
	}
	if _, err := os.Stat("/usr/sbin/tc"); err == nil {
		f := s.Get(ToolTC)
		if f.Present || f.Fix != "export PATH=$PATH:/usr/sbin" {
			t.Errorf("tc outside PATH: %+v", f)
		}
	}
}

func TestRelativePathIsPassedOver(t *testing.T) {
	env := bin(t, map[string]string{"iperf3": "echo 'iperf 3.1'"})
	t.Chdir(env.Path)
	env.Path = ".:"
	if Probe(t.Context(), env).Has(ToolIperf3) {
		t.Error("a program of the working directory was run")
	}
}

// TestDockerIsItsEngine: Docker is there where its engine answers, whatever there is of a client; else it is said what to do.
func TestDockerIsItsEngine(t *testing.T) {
	if os.Geteuid() != 0 || Host().ofOneUser() {
		t.Skip("engines are for root")
	}
	at := filepath.Join(t.TempDir(), "d.sock")
	t.Setenv("DOCKER_HOST", "unix://"+at)
	env := bin(t, map[string]string{"docker": "echo 20.10.24"})
	if f := Probe(t.Context(), env).Get(ToolDocker); f.Present || !strings.HasPrefix(f.Fix, "apt-get install docker.io, or start it") || !strings.Contains(f.Why, at) {
		t.Errorf("a client alone: %+v", f)
	}
	env = bin(t, map[string]string{"dockerd": "exit 1"})
	if f := Probe(t.Context(), env).Get(ToolDocker); f.Present || !strings.HasPrefix(f.Fix, "start it (systemctl start docker)") {
		t.Errorf("an engine that does not run: %+v", f)
	}
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	answers := http.NewServeMux()
	answers.HandleFunc("/_ping", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("API-Version", "1.41") })
	answers.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"Version": "20.10.24"}`) })
	server := &http.Server{Handler: answers}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	if f := Probe(t.Context(), bin(t, nil)).Get(ToolDocker); !f.Present || f.Detail != "20.10.24" {
		t.Errorf("an engine that answers: %+v", f)
	}
}

func TestIPTablesVariants(t *testing.T) {
	broken := map[string]string{
		"iptables":        "case $1 in --version) echo 'iptables v1.8.9 (nf_tables)';; *) echo 'Failed to initialize nft' >&2; exit 1;; esac",
		"iptables-legacy": "exit 0",
	}
	needNetNS(t)
	env := bin(t, broken)
	f := Probe(t.Context(), env).Get(IPTables)
	if f.Present || f.Detail != "1.8.9 (nf_tables)" || f.Fix != "update-alternatives --set iptables "+env.Path+"/iptables-legacy" {
		t.Errorf("got %+v", f)
	}
}
