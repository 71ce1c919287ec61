package machine

import (
	"fmt"
	"path/filepath"
)

// setting is one thing that the machine has one of.
type setting struct {
	// name is that of the field in a chain's file.
	name string
	// files that hold it, all alike; none where the machine lacks it.
	files func(device string) []string
	// absent says so, after the device where there is one.
	absent string
}

// The settings by the names of their fields.
const (
	RmemMax    = "rmem_max"
	WmemMax    = "wmem_max"
	Backlog    = "netdev_max_backlog"
	Hugepages  = "hugepages"
	Governor   = "governor"
	Expedited  = "rcu_expedited"
	Interrupts = "interrupts"
)

var settings = []setting{
	{RmemMax, existing("/proc/sys/net/core/rmem_max"), "this kernel, or this network namespace, has no net.core.rmem_max"},
	{WmemMax, existing("/proc/sys/net/core/wmem_max"), "this kernel, or this network namespace, has no net.core.wmem_max"},
	{Backlog, existing("/proc/sys/net/core/netdev_max_backlog"), "this kernel, or this network namespace, has no net.core.netdev_max_backlog"},
	{Hugepages, existing("/proc/sys/vm/nr_hugepages"), "this kernel has no hugepages"},
	{Governor, existing("/sys/devices/system/cpu/cpufreq/policy*/scaling_governor"), "this machine has no cpufreq, so no governor chooses its frequency"},
	{Expedited, existing("/sys/kernel/rcu_expedited"), "this kernel has no grace periods that could be expedited"},
	{Interrupts, func(device string) []string { return interrupts("/", device) }, " has no interrupts of its own"},
}

// overruled are settings whose 1 does not count where another file has 1, and that file.
var overruled = map[string]string{Expedited: "/sys/kernel/rcu_normal"}

func settingOf(name string) (setting, error) {
	for _, s := range settings {
		if s.name == name {
			return s, nil
		}
	}
	return setting{}, fmt.Errorf("there is no setting %q of the machine", name)
}

// existing files by a pattern.
func existing(pattern string) func(string) []string {
	return func(string) []string {
		found, _ := filepath.Glob(pattern)
		return found
	}
}

// interrupts of a network card are its own, or those of the bus device that it is part of
// (virtio), by MSI: files of /proc/irq that say which CPUs take each.
func interrupts(root, device string) (files []string) {
	for _, of := range []string{"device/msi_irqs", "device/../msi_irqs"} {
		numbers, _ := filepath.Glob(root + "sys/class/net/" + device + "/" + of + "/*")
		for _, n := range numbers {
			file := filepath.Join(root, "proc/irq", filepath.Base(n), "smp_affinity_list")
			if there, _ := filepath.Glob(file); len(there) > 0 {
				files = append(files, file)
			}
		}
		if len(files) > 0 {
			return files
		}
	}
	return nil
}
