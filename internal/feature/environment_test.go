package feature

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

const realCPU = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Gold 6230\nmicrocode\t: 0x5003604\nflags\t\t: fpu aperfmperf\n\nprocessor\t: 1\n"

func TestEnvironmentOfAServer(t *testing.T) {
	env := bin(t, map[string]string{"iperf3": "echo 'iperf 3.9 (cJSON 1.7.13)'", "ping": "exit 3"})
	env.Files = tree(t, map[string]string{
		"etc/os-release":                             "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\nID=ubuntu\n",
		"proc/sys/kernel/osrelease":                  "5.15.0-101-generic\n",
		"proc/sys/kernel/version":                    "#111-Ubuntu SMP\n",
		"proc/cmdline":                               "isolcpus=2-3 quiet\n",
		"proc/cpuinfo":                               realCPU,
		"proc/meminfo":                               "MemTotal:       196608 kB\n",
		"proc/sys/net/core/rmem_max":                 "212992\n",
		"proc/sys/net/ipv4/tcp_rmem":                 "4096\t131072\t6291456\n",
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"sys/class/dmi/id/sys_vendor":                "Dell Inc.\n",
		"sys/class/dmi/id/product_name":              "PowerEdge R740\n",
		"sys/devices/system/node/online":             "0-1\n",
		cpuDir + "isolated":                          "\n",
		cpuDir + "cpu0/cpufreq/scaling_governor":     "powersave\n",
		cpuDir + "cpu1/cpufreq/scaling_governor":     "performance\n",
	})
	got := Probe(t.Context(), env).Environment("v1.2.3")
	checks := map[string][2]any{
		"version":  {got.NfchainVersion, "v1.2.3"},
		"os":       {got.OS, "Ubuntu 22.04.4 LTS"},
		"kernel":   {got.Kernel, "5.15.0-101-generic #111-Ubuntu SMP"},
		"cmdline":  {got.KernelCmdline, "isolcpus=2-3 quiet"},
		"hardware": {got.Hardware, "Dell Inc. PowerEdge R740"},
		"virtual":  {got.Virtualization, ""},
		"model":    {got.CPUModel, "Intel(R) Xeon(R) Gold 6230"},
		"micro":    {got.Microcode, "0x5003604"},
		"cpus":     {got.CPUs, 2},
		"nodes":    {got.NUMANodes, 2},
		"memory":   {got.MemoryBytes, uint64(196608 * 1024)},
		"governor": {got.Governor, "performance, powersave"},
	}
	for name, c := range checks {
		if c[0] != c[1] {
			t.Errorf("%s: got %v, want %v", name, c[0], c[1])
		}
	}
	if want := map[string]string{"iperf3": "3.9"}; !maps.Equal(got.Tools, want) {
		t.Errorf("tools %v, want %v", got.Tools, want)
	}
	want := map[string]string{"net.core.rmem_max": "212992", "net.ipv4.tcp_rmem": "4096 131072 6291456", "transparent_hugepage": "madvise"}
	if !maps.Equal(got.Settings, want) {
		t.Errorf("settings %v, want %v", got.Settings, want)
	}
}

func TestEnvironmentOfNothing(t *testing.T) {
	env := bin(t, nil)
	env.Files = tree(t, nil)
	b, err := json.Marshal(Probe(t.Context(), env).Environment(""))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"os", "hardware", "virtualization", "cpu_model", "microcode", "numa_nodes", "memory_bytes", "cpu_governor"} {
		if v, ok := fields[name]; ok {
			t.Errorf("%s = %v, want it absent", name, v)
		}
	}
	if fields["tools"] == nil || fields["settings"] == nil {
		t.Errorf("null lists: %s", b)
	}
}

func TestVirtualization(t *testing.T) {
	const virtualCPU = "flags : fpu hypervisor\n"
	const dmi = "sys/class/dmi/id/"
	cases := map[string]struct {
		files map[string]string
		want  string
	}{
		"real":         {map[string]string{"proc/cpuinfo": realCPU, dmi + "sys_vendor": "Amazon EC2"}, ""},
		"QEMU and KVM": {map[string]string{"proc/cpuinfo": virtualCPU, dmi + "sys_vendor": "QEMU"}, "QEMU"},
		"emulated":     {map[string]string{"proc/cpuinfo": "model name : QEMU TCG CPU version 2.5+\n" + virtualCPU}, "QEMU TCG (emulation)"},
		"Hyper-V": {map[string]string{"proc/cpuinfo": virtualCPU, dmi + "sys_vendor": "Microsoft Corporation",
			dmi + "product_name": "Virtual Machine"}, "Hyper-V"},
		"Xen":     {map[string]string{"proc/cpuinfo": virtualCPU, "sys/hypervisor/type": "xen"}, "xen"},
		"clock":   {map[string]string{"proc/cpuinfo": virtualCPU, clockFile: "tsc kvm-clock acpi_pm"}, "KVM"},
		"unnamed": {map[string]string{"proc/cpuinfo": virtualCPU}, "an unnamed hypervisor"},
		"ARM":     {map[string]string{"proc/cpuinfo": "CPU part : 0xd0c\n", dmi + "sys_vendor": "QEMU"}, "QEMU"},
	}
	for name, c := range cases {
		if got := (Env{Files: tree(t, c.files)}).virtualization(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

const clockFile = "sys/devices/system/clocksource/clocksource0/available_clocksource"

// On the real machine other programs are the evidence.
func TestEnvironmentOfThisMachine(t *testing.T) {
	got := Probe(t.Context(), Host()).Environment("v0")
	if release := strings.Fields(printed(t, "uname", "-r"))[0]; !strings.HasPrefix(got.Kernel, release) {
		t.Errorf("kernel %q, uname says %q", got.Kernel, release)
	}
	if arch := strings.TrimSpace(printed(t, "uname", "-m")); got.Architecture != arch {
		t.Errorf("architecture %q, uname says %q", got.Architecture, arch)
	}
	if got.CPUs < runtime.NumCPU() || got.MemoryBytes == 0 || got.OS == "" {
		t.Errorf("got %+v", got)
	}
	if want := strings.Fields(printed(t, "cat", "/proc/sys/net/ipv4/tcp_rmem")); got.Settings["net.ipv4.tcp_rmem"] != strings.Join(want, " ") {
		t.Errorf("tcp_rmem %q, want %q", got.Settings["net.ipv4.tcp_rmem"], want)
	}
	if out, err := exec.Command("systemd-detect-virt", "--vm").Output(); len(out) > 0 && (got.Virtualization == "") != (err != nil) {
		t.Errorf("virtualization %q, systemd-detect-virt says %s", got.Virtualization, out)
	}
	if os.Geteuid() == 0 && !strings.HasPrefix(got.Privileges, "root") {
		t.Errorf("privileges %q", got.Privileges)
	}
}

func printed(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
