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
	cpus, beyond, ok := numbersListed(list, maxCPU)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s is not a list of CPUs; write numbers and ranges, such as 0,2-3", quote(list))
	case beyond > 0:
		return nil, fmt.Errorf("%s names CPU %d, and no machine has more than %d", quote(list), beyond, maxCPU)
	}
	return cpus, nil
}

// numbersListed are those of a list of numbers and ranges, in ascending order, each once; beyond is one of them that is more than most, 0 for none.
func numbersListed(list string, most int) (numbers []int, beyond int, ok bool) {
	named := make([]bool, most+1)
	for _, part := range strings.Split(list, ",") {
		first, last, ok := numberRange(strings.TrimSpace(part))
		if !ok {
			return nil, 0, false
		}
		if last > most {
			return nil, last, true
		}
		for n := first; n <= last; n++ {
			named[n] = true
		}
	}
	for n, is := range named {
		if is {
			numbers = append(numbers, n)
		}
	}
	return numbers, 0, true
}

func numberRange(text string) (first, last int, ok bool) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	first, ok1 := numberIn(low)
	last, ok2 := numberIn(high)
	return first, last, ok1 && ok2 && first <= last
}

func numberIn(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil
}
