package feature

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// nics are the machine's own interfaces: those that have a device.
func (e Env) nics() (all []trial.NIC) {
	for _, dir := range e.Files.Glob("sys/class/net/*/device") {
		nic := trial.NIC{Interface: path.Base(path.Dir(dir))}
		nic.Driver = e.linked(path.Join(dir, "driver"))
		nic.Slot = e.linked(dir)
		nic.Device = e.deviceNumbers(dir)
		if n, ok := e.Files.Int(path.Join(dir, "numa_node")); ok && n >= 0 {
			node := int(n)
			nic.NUMANode = &node
		}
		if megabits, ok := e.Files.Uint(path.Join(path.Dir(dir), "speed")); ok && megabits < 1<<31 {
			nic.SpeedBps = float64(megabits) * 1e6
		}
		nic.Interrupts, nic.IRQCores = e.interrupts(dir)
		all = append(all, nic)
	}
	return all
}

// linked is the last name of what a link leads to, empty where there is none.
func (e Env) linked(name string) string {
	target := e.Files.Link(name)
	return target[strings.LastIndexByte(target, '/')+1:]
}

// deviceNumbers is "0x8086:0x1572".
func (e Env) deviceNumbers(dir string) string {
	vendor, ok := e.Files.Text(path.Join(dir, "vendor"))
	if !ok {
		return ""
	}
	return vendor + ":" + e.text(path.Join(dir, "device"))
}

// interrupts of a device, and the cores that they may go to.
func (e Env) interrupts(dir string) (count int, cores string) {
	var lists []string
	for _, name := range e.Files.Glob(path.Join(dir, "msi_irqs/[0-9]*")) {
		count++
		if s, ok := e.Files.Text(fmt.Sprintf("proc/irq/%s/smp_affinity_list", path.Base(name))); ok {
			lists = append(lists, s)
		}
	}
	slices.Sort(lists)
	return count, strings.Join(slices.Compact(lists), " ")
}
