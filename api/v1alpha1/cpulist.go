package v1alpha1

import (
	"fmt"
	"strconv"
	"strings"
)

// maxCPU is the highest CPU number any Linux build knows (NR_CPUS is at most 8192).
const maxCPU = 8191

// ParseCPUList reads a list of CPUs as taskset(1) takes it, "0,2-3", and
// returns the CPUs in ascending order, each once.
func ParseCPUList(list string) ([]int, error) {
	var named [maxCPU + 1]bool
	for _, part := range strings.Split(list, ",") {
		first, last, ok := cpuRange(strings.TrimSpace(part))
		if !ok {
			return nil, fmt.Errorf("%s is not a list of CPUs; write numbers and ranges, such as 0,2-3", quote(list))
		}
		if last > maxCPU {
			return nil, fmt.Errorf("%s names CPU %d, and no machine has more than %d", quote(list), last, maxCPU)
		}
		for cpu := first; cpu <= last; cpu++ {
			named[cpu] = true
		}
	}
	var cpus []int
	for cpu, is := range named {
		if is {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

func cpuRange(text string) (first, last int, ok bool) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	first, ok1 := cpuNumber(low)
	last, ok2 := cpuNumber(high)
	return first, last, ok1 && ok2 && first <= last
}

func cpuNumber(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil
}
