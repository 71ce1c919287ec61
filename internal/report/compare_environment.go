package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

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

// differences are what makes two runs unlike, and what is only to be noted.
func differences(a, b trial.Run) (unlike, noted []Difference) {
	ea, eb := a.Environment, b.Environment
	unlike = unequal([]Difference{
		{"kernel", ea.Kernel, eb.Kernel},
		{"architecture", ea.Architecture, eb.Architecture},
		{"CPU model", ea.CPUModel, eb.CPUModel},
		{"CPUs", strconv.Itoa(ea.CPUs), strconv.Itoa(eb.CPUs)},
		{"virtualization", ea.Virtualization, eb.Virtualization},
		{"CPU governor", ea.Governor, eb.Governor},
	})
	noted = unequal([]Difference{
		{"nfchain", ea.NfchainVersion, eb.NfchainVersion},
		{"chain", a.Chain, b.Chain},
		{"file", fileName(a, b, true), fileName(a, b, false)},
		{"durations of trials", durations(a), durations(b)},
		{"quick", yesNo(a.Quick), yesNo(b.Quick)},
		{"system", ea.OS, eb.OS},
		{"kernel command line", ea.KernelCmdline, eb.KernelCmdline},
		{"hardware", ea.Hardware, eb.Hardware},
		{"microcode", ea.Microcode, eb.Microcode},
		{"NUMA nodes", strconv.Itoa(ea.NUMANodes), strconv.Itoa(eb.NUMANodes)},
		{"memory in bytes", strconv.FormatUint(ea.MemoryBytes, 10), strconv.FormatUint(eb.MemoryBytes, 10)},
		{"privileges", ea.Privileges, eb.Privileges},
	})
	noted = append(noted, unequalMaps("tool ", ea.Tools, eb.Tools)...)
	return unlike, append(noted, unequalMaps("setting ", ea.Settings, eb.Settings)...)
}

func unequal(all []Difference) []Difference {
	return slices.DeleteFunc(all, func(d Difference) bool { return d.A == d.B })
}

func unequalMaps(prefix string, a, b map[string]string) (out []Difference) {
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
