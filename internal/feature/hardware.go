package feature

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
)

// enoughFiles lets one process watch a chain of a thousand functions: a
// namespace, a netlink socket and two logs for each.
const enoughFiles = 4096

func askNoFile(context.Context, Env) answer {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return no(err.Error(), "")
	}
	a := answer{present: limit.Max >= enoughFiles, detail: fmt.Sprint(limit.Max)}
	if !a.present {
		a.why = fmt.Sprintf("at most %d open files, %d are wanted", limit.Max, enoughFiles)
		a.fix = fmt.Sprintf("as root: prlimit --pid $$ --nofile=%d", enoughFiles)
	}
	return a
}

func askCPUCount(_ context.Context, env Env) answer {
	n := env.cpus()
	a := answer{present: n > 1, detail: fmt.Sprint(n)}
	if !a.present {
		a.why, a.fix = "one core carries both the traffic tools and the chain", "a machine with more cores"
	}
	return a
}

func askGovernor(_ context.Context, env Env) answer {
	switch governors := env.governors(); {
	case len(governors) == 0:
		return no("this kernel does not scale the frequency, or leaves it to the hypervisor", "set the governor on the machine underneath")
	case slices.Equal(governors, []string{"performance"}):
		return yes("performance")
	default:
		seen := strings.Join(governors, ", ")
		return answer{detail: seen, why: "the governor is " + seen,
			fix: "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"}
	}
}

// governors are the different governors of the cores, sorted.
func (e Env) governors() []string {
	var all []string
	for _, name := range e.Files.Glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") {
		if g, ok := e.Files.Text(name); ok {
			all = append(all, g)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func askFrequency(_ context.Context, env Env) answer {
	hz := env.Files.Frequencies()
	if len(hz) == 0 {
		return no("no sensor", "measure on the machine underneath, or on one with cpufreq")
	}
	return yes(fmt.Sprintf("%.0f to %.0f MHz now", slices.Min(hz)/1e6, slices.Max(hz)/1e6))
}

func askTemperature(_ context.Context, env Env) answer {
	n := len(env.Files.Temperatures())
	if n == 0 {
		return no("no sensor", "modprobe coretemp or k10temp; a virtual machine has none")
	}
	return yes(fmt.Sprintf("%d sensors", n))
}

func askNUMA(_ context.Context, env Env) answer {
	n := env.numaNodes()
	a := answer{present: n > 1, detail: fmt.Sprint(n)}
	switch {
	case n == 0:
		a = no("this kernel does not tell its memory nodes", "a kernel built with CONFIG_NUMA")
	case n == 1:
		a.why, a.fix = "one memory node: there is nothing to place", "a machine with several sockets"
	}
	return a
}

func askHugepages(_ context.Context, env Env) answer {
	pools := env.Files.Glob("sys/kernel/mm/hugepages/hugepages-*")
	if len(pools) == 0 {
		return no("this kernel has none", "a kernel built with CONFIG_HUGETLBFS")
	}
	var reserved []string
	for _, pool := range pools {
		total, _ := env.Files.Uint(path.Join(pool, "nr_hugepages"))
		free, _ := env.Files.Uint(path.Join(pool, "free_hugepages"))
		if total > 0 {
			size := strings.TrimPrefix(path.Base(pool), "hugepages-")
			reserved = append(reserved, fmt.Sprintf("%d of %s, %d free", total, size, free))
		}
	}
	if reserved == nil {
		return no("none are reserved", "sysctl -w vm.nr_hugepages=512")
	}
	return yes(strings.Join(reserved, "; "))
}
