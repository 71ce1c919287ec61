package feature

import (
	"slices"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// AllowedCPUs are the CPUs that this process may use, in ascending order; none where the
// machine does not tell.
func (s Set) AllowedCPUs() []int {
	cpus, _ := procfs.ParseList(procfs.Field(s.env.text("proc/self/status"), "Cpus_allowed_list"))
	return cpus
}

// NameableCPUs are those that this process may bind others to, in ascending order, whether it runs on them or not (isolcpus=,
// taskset(1)): those that are on, and of its control group's cpuset. None where the machine does not tell.
func (s Set) NameableCPUs() []int {
	online, told := s.env.Files.List("sys/devices/system/cpu/online")
	if !told {
		return nil
	}
	groups, mounts := parseCgroup(s.env.text("proc/self/cgroup")), parseCgroupMounts(s.env.text("proc/self/mountinfo"))
	given, told := procfs.ParseList(s.env.cpuset(groups, mounts))
	if !told {
		return online
	}
	return slices.DeleteFunc(online, func(cpu int) bool { return !slices.Contains(given, cpu) })
}

// MemoryNodes are the CPUs of each memory node that has some, by its number; none where the
// machine does not tell.
func (s Set) MemoryNodes() map[int][]int {
	nodes := map[int][]int{}
	for _, n := range s.env.numa() {
		if cpus, ok := procfs.ParseList(n.CPUs); ok {
			nodes[n.Node] = cpus
		}
	}
	return nodes
}

// HugepagePools are how many hugepages are reserved of each size that the kernel has, by that size in bytes.
func (s Set) HugepagePools() map[uint64]uint64 {
	pools := map[uint64]uint64{}
	for _, p := range s.env.hugepages() {
		pools[p.SizeBytes] = p.Total
	}
	return pools
}

// ReservedHugepages are how many of the kernel's usual size are reserved, and that size in bytes;
// not told where the kernel has none.
func (s Set) ReservedHugepages() (size, reserved uint64, told bool) {
	info := procfs.ParseMeminfo(s.env.text("proc/meminfo"))
	size, told = info["Hugepagesize"]
	return size, info["HugePages_Total"], told && size > 0
}
