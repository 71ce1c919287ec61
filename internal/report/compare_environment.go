package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// Difference is something that is not alike in two runs.
type Difference struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// String is "kernel: 6.1 and 6.18".
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s and %s", d.What, orUnknown(d.A), orUnknown(d.B))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// differences are what makes two runs unlike, and what is only to be noted. What
// one of them does not know makes nothing unlike: a run that was stored before
// something was captured is still good.
func differences(a, b trial.Run) (unlike, noted []Difference) {
	unlike, unknown := split(unequal(append(mattering(a.Environment, b.Environment), chainDifferences(a, b)...)))
	noted = append(unequal(notable(a, b)), unknown...)
	for _, d := range unequalMaps("tool ", a.Environment.Tools, b.Environment.Tools) {
		name := strings.TrimPrefix(d.What, "tool ")
		if usesTool(a, name) && usesTool(b, name) && d.A != "" && d.B != "" {
			unlike = append(unlike, d)
		} else {
			noted = append(noted, d)
		}
	}
	for _, d := range unequalMaps("setting ", a.Environment.Settings, b.Environment.Settings) {
		if movesPackets(strings.TrimPrefix(d.What, "setting ")) && d.A != "" && d.B != "" {
			unlike = append(unlike, d)
		} else {
			noted = append(noted, d)
		}
	}
	return unlike, noted
}

// Unlike is what makes two environments unlike, such as that in which a run was
// begun and that in which it would go on; empty where they are alike.
func Unlike(a, b trial.Environment) []Difference {
	unlike, _ := differences(trial.Run{Environment: a}, trial.Run{Environment: b})
	return unlike
}

// UnlikeMachines is what makes the machines of two runs unlike, and the tools that both
// used, whatever their chains were.
func UnlikeMachines(a, b trial.Run) []Difference {
	a.Setups, b.Setups = nil, nil
	unlike, _ := differences(a, b)
	return unlike
}

// split keeps apart what differs and what one of the two does not know.
func split(all []Difference) (unlike, unknown []Difference) {
	for _, d := range all {
		if d.A == "" || d.B == "" {
			unknown = append(unknown, d)
		} else {
			unlike = append(unlike, d)
		}
	}
	return unlike, unknown
}

// mattering is what moves a measurement.
func mattering(a, b trial.Environment) []Difference {
	pa, pb := processorOf(a), processorOf(b)
	all := []Difference{
		{"kernel", a.Kernel, b.Kernel},
		{"architecture", a.Architecture, b.Architecture},
		{"CPU model", a.CPUModel, b.CPUModel},
		{"CPUs", positive(a.CPUs), positive(b.CPUs)},
		{"virtualization", underText(a), underText(b)},
		{"CPU governor", a.Governor, b.Governor},
		{"microcode", a.Microcode, b.Microcode},
		{"SMT", pa.SMT, pb.SMT},
		{"threads per core", positive(pa.ThreadsPerCore), positive(pb.ThreadsPerCore)},
		{"frequency driver", pa.Driver, pb.Driver},
		{"turbo", pa.Turbo, pb.Turbo},
		{"idle driver", pa.IdleDriver, pb.IdleDriver},
		{"idle states", idleText(pa.IdleStates), idleText(pb.IdleStates)},
		{"isolated cores", pa.Isolated, pb.Isolated},
		{"nohz_full", pa.NohzFull, pb.NohzFull},
		{"rcu_nocbs", pa.RCUNocbs, pb.RCUNocbs},
		{"cores allowed", pa.Allowed, pb.Allowed},
		{"cgroup's limit of CPU time", cpuLimitText(a.Cgroup), cpuLimitText(b.Cgroup)},
	}
	return append(all, unequalMaps("mitigation of ", a.Mitigations, b.Mitigations)...)
}

// notable is what a reader may want to know, and what is compared on purpose.
func notable(a, b trial.Run) []Difference {
	ea, eb := a.Environment, b.Environment
	all := []Difference{
		{"nfchain", ea.NfchainVersion, eb.NfchainVersion},
		{"nfchain's build", ea.Build, eb.Build},
		{"chain", a.Chain, b.Chain},
		{"file", fileName(a, b, true), fileName(a, b, false)},
		{"durations of trials", durations(a), durations(b)},
		{"quick", yesNo(a.Quick), yesNo(b.Quick)},
		{"system", ea.OS, eb.OS},
		{"kernel command line", ea.KernelCmdline, eb.KernelCmdline},
		{"hardware", ea.Hardware, eb.Hardware},
		{"firmware", ea.Firmware, eb.Firmware},
		{"container", ea.Container, eb.Container},
		{"NUMA nodes", positive(ea.NUMANodes), positive(eb.NUMANodes)},
		{"memory", sizeIf(ea.MemoryBytes), sizeIf(eb.MemoryBytes)},
		{"hugepages", hugepagesText(ea.Hugepages), hugepagesText(eb.Hugepages)},
		{"privileges", ea.Privileges, eb.Privileges},
	}
	return append(all, unequalMaps("limit ", ea.Limits, eb.Limits)...)
}

// processorOf is empty where nothing is known.
func processorOf(e trial.Environment) trial.Processor {
	if e.Processor == nil {
		return trial.Processor{}
	}
	return *e.Processor
}

// underText is what lies under a kernel: known to be nothing where the processor
// is known and nothing shows.
func underText(e trial.Environment) string {
	if e.Virtualization == "" && e.CPUModel != "" {
		return "none"
	}
	return e.Virtualization
}

func cpuLimitText(c *trial.Cgroup) string {
	switch {
	case c == nil:
		return ""
	case c.CPUs == nil:
		return "none"
	}
	return limitText("%g cores", c.CPUs)
}

func hugepagesText(all []trial.HugepagePool) string {
	var parts []string
	for _, p := range all {
		parts = append(parts, fmt.Sprintf("%d of %s", p.Total, bytesText(p.SizeBytes)))
	}
	return strings.Join(parts, ", ")
}

// usesTool tells whether a run measured anything with a tool, or through it.
func usesTool(r trial.Run, tool string) bool {
	return tool == vSwitch && switched(r) || slices.ContainsFunc(r.Conditions, func(c trial.Condition) bool { return c.Tool == tool })
}

// followMemory are settings that the kernel works out from the memory there is.
var followMemory = []string{"net.ipv4.tcp_mem", "net.ipv4.udp_mem", "net.netfilter.nf_conntrack_max"}

// movesPackets tells settings on which the way of packets depends.
func movesPackets(setting string) bool {
	return setting == "clocksource" || strings.HasPrefix(setting, "net.") && !slices.Contains(followMemory, setting)
}

func unequal(all []Difference) []Difference {
	return slices.DeleteFunc(all, func(d Difference) bool { return d.A == d.B })
}

// unequalMaps are the differences by name. Where one of two maps is empty nothing
// is known of it, which is said once.
func unequalMaps(prefix string, a, b map[string]string) (out []Difference) {
	if len(a) == 0 != (len(b) == 0) {
		return []Difference{{strings.TrimSuffix(strings.TrimSuffix(prefix, " "), " of") + "s", knownText(a), knownText(b)}}
	}
	names := maps.Clone(a)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a[name] != b[name] {
			out = append(out, Difference{prefix + name, a[name], b[name]})
		}
	}
	return out
}

func knownText(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	return "known"
}

// fileName stands for the file a run was made from; its text may be long.
func fileName(a, b trial.Run, first bool) string {
	switch {
	case a.Spec == b.Spec:
		return ""
	case first:
		return "as in " + a.ID
	}
	return "as in " + b.ID
}

// durations lists how long the trials of a run were to be.
func durations(r trial.Run) (text string) {
	var all []float64
	for _, c := range r.Conditions {
		if !slices.Contains(all, c.DurationS) {
			all = append(all, c.DurationS)
		}
	}
	slices.Sort(all)
	for i, d := range all {
		if i > 0 {
			text += ", "
		}
		text += secondsText(d)
	}
	return text
}
