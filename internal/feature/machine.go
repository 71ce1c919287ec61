package feature

import (
	"runtime"
	"strings"
)

// hardware is the maker and model of the machine: DMI, else the device tree.
func (e Env) hardware() string {
	const dmi = "sys/class/dmi/id/"
	parts := []string{e.text(dmi + "sys_vendor"), e.text(dmi + "product_name")}
	if name := strings.TrimSpace(strings.Join(parts, " ")); name != "" {
		return name
	}
	return e.text("proc/device-tree/model")
}

func (e Env) cpuModel() string {
	info := e.Files.CPUInfo()
	if model := info.Fields["model name"]; model != "" {
		return model
	}
	return info.Fields["Model"] // some ARM boards
}

// cpus counts the cores that are online.
func (e Env) cpus() int {
	if online, ok := e.Files.List("sys/devices/system/cpu/online"); ok {
		return len(online)
	}
	if n := e.Files.CPUInfo().Processors; n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// numaNodes counts the memory nodes; 0 is unknown.
func (e Env) numaNodes() int {
	nodes, _ := e.Files.List("sys/devices/system/node/online")
	return len(nodes)
}

// hypervisors by what the machine's makers write into DMI.
var hypervisors = []struct{ mark, name string }{
	{"firecracker", "Firecracker"},
	{"qemu", "QEMU"},
	{"kvm", "KVM"},
	{"vmware", "VMware"},
	{"virtualbox", "VirtualBox"},
	{"innotek", "VirtualBox"},
	{"xen", "Xen"},
	{"microsoft corporation virtual machine", "Hyper-V"},
	{"amazon ec2", "Amazon EC2"},
	{"google compute engine", "Google Compute Engine"},
	{"openstack", "OpenStack"},
	{"bhyve", "bhyve"},
	{"parallels", "Parallels"},
}

// clocks that only one hypervisor offers.
var clocks = []struct{ mark, name string }{
	{"kvm-clock", "KVM"},
	{"hyperv_clocksource", "Hyper-V"},
	{"xen", "Xen"},
}

// virtualization says what lies under this kernel, empty where nothing is seen.
// Emulation (QEMU without KVM) is named, because its speed means nothing.
func (e Env) virtualization() string {
	info := e.Files.CPUInfo()
	if strings.Contains(e.cpuModel(), "QEMU TCG") {
		return "QEMU TCG (emulation)"
	}
	name := e.hypervisor()
	// Cloud makers sell bare metal under the same DMI names: on x86 the
	// processor's flag decides.
	x86 := info.Fields["flags"] != ""
	if x86 && !info.Flag("hypervisor") {
		return ""
	}
	if x86 && name == "" {
		return "an unnamed hypervisor"
	}
	return name
}

func (e Env) hypervisor() string {
	model := strings.ToLower(e.hardware())
	for _, h := range hypervisors {
		if strings.Contains(model, h.mark) {
			return h.name
		}
	}
	if kind := e.text("sys/hypervisor/type"); kind != "" {
		return kind
	}
	available := e.text("sys/devices/system/clocksource/clocksource0/available_clocksource")
	for _, c := range clocks {
		if strings.Contains(available, c.mark) {
			return c.name
		}
	}
	return ""
}
