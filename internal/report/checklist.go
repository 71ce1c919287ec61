package report

import (
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// standing is whether an entry of a checklist is told.
type standing int

const (
	untold standing = iota // it applies, and this machine does not tell it
	told
	moot // it does not apply
)

// entry is one thing that a standard wants in a report.
type checkEntry struct {
	item  string
	stand func(trial.Run) standing
}

// checklists are those of RFC 8204 §3.3, of draft-ietf-bmwg-containerized-infra-08
// §5.2, and of draft-dcn-bmwg-containerized-infra-05 §3.1 and §3.3. Each entry is
// told in the environment table or with the conditions, or is named there as not
// told.
var checklists = []struct {
	source  string
	entries []checkEntry
}{
	{"RFC 8204 §3.3", []checkEntry{
		{"platform", about(func(e trial.Environment) bool { return e.Hardware != "" })},
		{"BIOS version and date", about(func(e trial.Environment) bool { return e.Firmware != "" })},
		{"BIOS settings that were changed", never},
		{"processor", about(func(e trial.Environment) bool { return e.CPUModel != "" })},
		{"microcode", about(func(e trial.Environment) bool { return e.Microcode != "" })},
		{"memory size", about(func(e trial.Environment) bool { return e.MemoryBytes > 0 })},
		{"memory type and channels", never},
		{"enabled cores", about(func(e trial.Environment) bool { return e.CPUs > 0 })},
		{"cores used", processor(func(p trial.Processor) bool { return p.Allowed != "" })},
		{"power management: frequency", about(func(e trial.Environment) bool { return e.Governor != "" })},
		{"power management: turbo", processor(func(p trial.Processor) bool { return p.Turbo != "" })},
		{"power management: idle states", processor(func(p trial.Processor) bool { return p.IdleDriver != "" })},
		{"physical NICs, their type and slot", about(func(e trial.Environment) bool { return len(e.NICs) > 0 })},
		{"NIC interrupt configuration", about(hasInterrupts)},
		{"OS version", about(func(e trial.Environment) bool { return e.OS != "" })},
		{"OS settings", about(func(e trial.Environment) bool { return len(e.Settings) > 0 })},
		{"kernel version", about(func(e trial.Environment) bool { return e.Kernel != "" })},
		{"kernel boot parameters", about(func(e trial.Environment) bool { return e.KernelCmdline != "" })},
		{"hypervisor", hypervisor},
		{"hypervisor version and the placing of its virtual CPUs", underHypervisor},
		{"vSwitch and its version", vswitch},
		{"vSwitch command line, memory and threads", vswitchDetails},
		{"how the software was built", about(func(e trial.Environment) bool { return e.Build != "" })},
		{"VMs: number, memory, storage, vCPUs", virtualMachines},
		{"virtual interfaces, their type and driver", setup(func(i trial.InterfaceSetup) bool { return i.Driver != "" })},
		{"thread affinity", conditions},
		{"isolated cores", processor(func(p trial.Processor) bool { return p.Isolated != "" })},
		{"traffic type", conditions},
		{"deployment scenario", setups},
	}},
	{"draft-ietf-bmwg-containerized-infra-08 §5.2", []checkEntry{
		{"host type", about(func(e trial.Environment) bool { return e.CPUModel != "" })},
		{"Kubernetes and CNI", kubernetes},
		{"NIC offloads", setup(func(i trial.InterfaceSetup) bool { return i.OffloadsOn != nil })},
		{"NUMA", about(func(e trial.Environment) bool { return e.NUMANodes > 0 })},
		{"hugepages", about(func(e trial.Environment) bool { return len(e.Hugepages) > 0 })},
		{"CPU and memory granted", about(func(e trial.Environment) bool { return e.Cgroup != nil })},
		{"busy polling", about(func(e trial.Environment) bool { return e.Settings["net.core.busy_poll"] != "" })},
		{"number of functions and their composition", setups},
		{"technology between hosts", func(trial.Run) standing { return moot }},
	}},
	{"draft-dcn-bmwg-containerized-infra-05 §3", []checkEntry{
		{"container management system", container},
		{"network model", setups},
		{"queues of the interfaces", setup(func(i trial.InterfaceSetup) bool { return i.RxQueues > 0 })},
	}},
}

// never is what no program can read of this machine.
func never(trial.Run) standing { return untold }

func standingOf(ok bool) standing {
	if ok {
		return told
	}
	return untold
}

func about(known func(trial.Environment) bool) func(trial.Run) standing {
	return func(r trial.Run) standing { return standingOf(known(r.Environment)) }
}

func processor(known func(trial.Processor) bool) func(trial.Run) standing {
	return about(func(e trial.Environment) bool { return e.Processor != nil && known(*e.Processor) })
}

func hasInterrupts(e trial.Environment) bool {
	return slices.ContainsFunc(e.NICs, func(n trial.NIC) bool { return n.Interrupts > 0 })
}

func conditions(r trial.Run) standing { return standingOf(len(r.Conditions) > 0) }

func setups(r trial.Run) standing { return standingOf(len(r.Setups) > 0) }

// setup wants something of every interface of every chain.
func setup(known func(trial.InterfaceSetup) bool) func(trial.Run) standing {
	return func(r trial.Run) standing {
		for _, s := range r.Setups {
			for _, i := range s.Interfaces {
				if !known(i) {
					return untold
				}
			}
		}
		return setups(r)
	}
}

// hypervisor is told where one shows, and where the processor says that there is
// none.
func hypervisor(r trial.Run) standing {
	return standingOf(r.Environment.Virtualization != "" || r.Environment.CPUModel != "")
}

func underHypervisor(r trial.Run) standing {
	if r.Environment.Virtualization == "" {
		return moot
	}
	return untold
}

// switched tells whether a chain of the run went through a switch with a version
// of its own.
func switched(r trial.Run) bool {
	return slices.ContainsFunc(r.Setups, func(s trial.Setup) bool { return strings.Contains(s.Wiring, vSwitch) })
}

// vSwitch is what the wiring of a virtual switch is called, and its version among the tools'.
const vSwitch = "ovs"

func vswitch(r trial.Run) standing {
	if switched(r) {
		return standingOf(r.Environment.Tools[vSwitch] != "")
	}
	return setups(r) // the wiring, whose version is the kernel's
}

func vswitchDetails(r trial.Run) standing {
	if switched(r) {
		return untold
	}
	return moot
}

func virtualMachines(r trial.Run) standing {
	for _, s := range r.Setups {
		if s.Nodes["vm"] > 0 {
			return untold
		}
	}
	return moot
}

func kubernetes(r trial.Run) standing {
	if r.Environment.Container == "Kubernetes" {
		return untold
	}
	return moot
}

func container(r trial.Run) standing {
	return standingOf(r.Environment.Container != "" || r.Environment.Tools["docker"] != "" || r.Environment.Cgroup != nil)
}

// checklist names what the standards want and the table lacks.
func (t *rows) checklist(r trial.Run) {
	found := map[standing][]string{}
	for _, list := range checklists {
		by := map[standing][]string{}
		for _, e := range list.entries {
			s := e.stand(r)
			by[s] = append(by[s], e.item)
		}
		for s, items := range by {
			found[s] = append(found[s], list.source+": "+strings.Join(items, ", "))
		}
	}
	t.say("cannot be told here", strings.Join(found[untold], "; "))
	t.say("does not apply", strings.Join(found[moot], "; "))
}
