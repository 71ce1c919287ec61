package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/moby/moby/api/types/container"
	"github.com/opencontainers/runtime-spec/specs-go"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Limits of what a container may use. They can be others while it runs.
type Limits struct {
	// CPUs it may use, as a list; "" is all. CPUTime is of how many it may use the time; 0 is any.
	CPUs    string  `json:"cpus,omitempty"`
	CPUTime float64 `json:"cpu_time,omitempty"`
	// MemoryNodes that its memory is of; none is any.
	MemoryNodes []int `json:"memory_nodes,omitempty"`
	// MemoryBytes it may use; 0 is any.
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
	// HugepageBytes of hugepages, of PageBytes each, that it may use, and none of other sizes; where both are 0, they are not bound.
	HugepageBytes uint64 `json:"hugepage_bytes,omitempty"`
	PageBytes     uint64 `json:"page_bytes,omitempty"`
}

// String is all of them, in words, as they are told of a container that has them; "" is none.
func (l Limits) String() string {
	var all []string
	if l.CPUs != "" {
		all = append(all, "CPUs "+once(l.CPUs))
	}
	if l.CPUTime > 0 {
		all = append(all, fmt.Sprintf("time of %g CPUs", shareOf(l.quota(), period)))
	}
	if len(l.MemoryNodes) > 0 {
		all = append(all, "memory nodes "+list(l.MemoryNodes))
	}
	if l.MemoryBytes > 0 {
		all = append(all, "memory "+api.Size(l.MemoryBytes).String())
	}
	if l.HugepageBytes > 0 {
		all = append(all, fmt.Sprintf("hugepages %s of %s", api.Size(l.HugepageBytes), api.Size(l.PageBytes)))
	}
	return strings.Join(all, ", ")
}

// Kept are those, in words, that an engine keeps of a container which does not run: hugepages are its control group's alone.
func (l Limits) Kept() string {
	l.HugepageBytes = 0
	return l.String()
}

// list of numbers, as control groups take it.
func list(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]")
}

// once is a list with each of its parts once, since all of it twice stands for no limit, and without blanks, which engines do not take.
func once(list string) string {
	var parts []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ",")
}

// period is the time of which a container may use a share, in microseconds, as the kernel has it unless it is told another.
const period = 100_000

// quota is that share: so many CPUs have so much of them.
func (l Limits) quota() int64 { return int64(math.Round(l.CPUTime * period)) }

// shareOf is the number of CPUs that a quota is of, as finely as quota makes one; 0 where there is none.
func shareOf(quota, of int64) float64 {
	if quota <= 0 || of <= 0 {
		return 0
	}
	return math.Round(float64(quota)/float64(of)*period) / period
}

// boundless memory stands for no limit where an engine takes none for one that is not to be changed.
const boundless = 1 << 60

// devices is where the kernel tells of CPUs and memory nodes.
var devices = "/sys/devices/system"

// everyTwice are all of the machine's CPUs or memory nodes, twice, for the same reason: a list that stands for no limit, and that nobody gives.
func everyTwice(what string) (string, error) {
	text, err := os.ReadFile(filepath.Join(devices, what, "online"))
	if err != nil {
		return "", fmt.Errorf("look which there are: %w", err)
	}
	every := strings.TrimSpace(string(text))
	return every + "," + every, nil
}

// bound is a list that is a limit, or "".
func bound(of string) string {
	if half := len(of) / 2; len(of)%2 == 1 && of[half] == ',' && of[:half] == of[half+1:] && half > 0 {
		return ""
	}
	return of
}

// resources are what Docker's API has for limits, where a container is made.
func (l Limits) resources() container.Resources {
	r := container.Resources{CpusetCpus: once(l.CPUs), CpusetMems: list(l.MemoryNodes), Memory: int64(l.MemoryBytes)}
	if l.CPUTime > 0 {
		r.CPUPeriod, r.CPUQuota = period, l.quota()
	}
	return r
}

// changed are those for one that is there, where what is not said stays as it is.
func (l Limits) changed() (r container.Resources, err error) {
	r = l.resources()
	if r.CpusetCpus == "" {
		if r.CpusetCpus, err = everyTwice("cpu"); err != nil {
			return r, err
		}
	}
	if r.CpusetMems == "" {
		// A kernel without NUMA has no nodes, and so no limit to take away.
		if r.CpusetMems, err = everyTwice("node"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	if r.CPUQuota == 0 {
		r.CPUQuota = -1
	}
	if r.Memory == 0 {
		r.Memory = boundless
	}
	// As the engine sets it where it makes one. It is memory and swap together: as much as memory alone would be no swap, and of -1, which
	// is any, a runtime is told nothing, and leaves what was.
	r.MemorySwap = 2 * r.Memory
	return r, nil
}

// limitsOf a container, as Docker's API tells them.
func limitsOf(r container.Resources) Limits {
	l := Limits{CPUs: bound(r.CpusetCpus), CPUTime: shareOf(r.CPUQuota, r.CPUPeriod)}
	if r.NanoCPUs > 0 { // somebody else has limited it
		l.CPUTime = shareOf(r.NanoCPUs, 1e9)
	}
	l.MemoryNodes, _ = api.ParseCPUList(bound(r.CpusetMems))
	if r.Memory > 0 && r.Memory < boundless {
		l.MemoryBytes = uint64(r.Memory)
	}
	return l
}

// within sets them in a container's specification.
func (l Limits) within(s *oci.Spec) {
	if s.Linux == nil {
		s.Linux = &specs.Linux{}
	}
	if s.Linux.Resources == nil {
		s.Linux.Resources = &specs.LinuxResources{}
	}
	r := s.Linux.Resources
	r.CPU, r.Memory = nil, nil
	if l.CPUs != "" || len(l.MemoryNodes) > 0 || l.CPUTime > 0 {
		r.CPU = &specs.LinuxCPU{Cpus: once(l.CPUs), Mems: list(l.MemoryNodes)}
	}
	if l.CPUTime > 0 {
		quota, of := l.quota(), uint64(period)
		r.CPU.Quota, r.CPU.Period = &quota, &of
	}
	if l.MemoryBytes > 0 {
		most := int64(l.MemoryBytes)
		r.Memory = &specs.LinuxMemory{Limit: &most}
	}
}

// limitsIn a container's specification.
func limitsIn(s *oci.Spec) (l Limits) {
	if s.Linux == nil || s.Linux.Resources == nil {
		return l
	}
	if c := s.Linux.Resources.CPU; c != nil {
		l.CPUs = c.Cpus
		l.MemoryNodes, _ = api.ParseCPUList(c.Mems)
		if c.Quota != nil && c.Period != nil {
			l.CPUTime = shareOf(*c.Quota, int64(*c.Period))
		}
	}
	if m := s.Linux.Resources.Memory; m != nil && m.Limit != nil {
		l.MemoryBytes = uint64(*m.Limit)
	}
	return l
}

// task are those for a container that runs, where what is not said stays as it is.
func (l Limits) task() (*specs.LinuxResources, error) {
	r, err := l.changed()
	if err != nil {
		return nil, err
	}
	of, most := uint64(period), int64(-1)
	if l.MemoryBytes > 0 {
		most = r.Memory
	}
	return &specs.LinuxResources{
		CPU:    &specs.LinuxCPU{Cpus: r.CpusetCpus, Mems: r.CpusetMems, Quota: &r.CPUQuota, Period: &of},
		Memory: &specs.LinuxMemory{Limit: &most},
	}, nil
}
