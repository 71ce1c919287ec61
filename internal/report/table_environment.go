package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// environmentTable is the machine and the chains as they were made. What could not
// be told is left out here, and named in the last rows.
func environmentTable(run trial.Run) table {
	t := rows{table{Title: "Environment", Caption: "The machine as it was during the run, and the chain as it was made and read back."}}
	t.column("what", false)
	t.column("value", false)
	e := run.Environment
	t.software(e)
	t.processor(e)
	t.memory(e)
	t.network(e)
	t.process(e)
	t.load("load before", e.LoadBefore)
	t.load("load during the trials", meanLoad(run.Trials))
	for _, s := range run.Setups {
		t.setup(s, len(run.Setups) > 1)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Tools)) {
		t.say(name, withNote(e.Tools[name], e.ToolsFound[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Settings)) {
		t.say(name, e.Settings[name])
	}
	t.checklist(run)
	return t.table
}

// rows is a table of what and value.
type rows struct{ table }

// say adds a line, unless there is nothing to say.
func (t *rows) say(what, value string) {
	if value != "" {
		t.add(len(t.Rows) == 0, what, value)
	}
}

// withNote is "value (note)".
func withNote(value, note string) string {
	if value == "" || note == "" {
		return value
	}
	return value + " (" + note + ")"
}

func (t *rows) software(e trial.Environment) {
	t.say("nfchain", withNote(e.NfchainVersion, e.Build))
	t.say("system", e.OS)
	t.say("kernel", join(e.Kernel, e.Architecture))
	t.say("kernel command line", e.KernelCmdline)
	t.say("hardware", e.Hardware)
	t.say("firmware", e.Firmware)
	t.say("virtualization", e.Virtualization)
	t.say("container", e.Container)
}

func (t *rows) processor(e trial.Environment) {
	t.say("CPU", e.CPUModel)
	t.say("CPUs", positive(e.CPUs))
	t.say("microcode", e.Microcode)
	if p := e.Processor; p != nil {
		t.say("cores", coresText(*p))
		t.say("caches", cachesText(p.Caches))
		t.say("frequency", frequencyText(*p))
		t.say("turbo", p.Turbo)
	}
	t.say("governor", e.Governor)
	if p := e.Processor; p != nil {
		t.say("idle driver", p.IdleDriver)
		t.say("idle states", idleText(p.IdleStates))
		t.say("isolated cores", p.Isolated)
		t.say("nohz_full", p.NohzFull)
		t.say("rcu_nocbs", p.RCUNocbs)
		t.say("cores allowed", p.Allowed)
	}
	t.mitigations(e.Mitigations)
}

// mitigations has a line for each vulnerability that the processor has, and one for
// all it has not.
func (t *rows) mitigations(all map[string]string) {
	var none []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == "Not affected" {
			none = append(none, name)
			continue
		}
		t.say("vulnerability "+name, all[name])
	}
	t.say("not affected by", strings.Join(none, ", "))
}

func coresText(p trial.Processor) string {
	var parts []string
	if p.Sockets > 0 && p.Cores > 0 {
		parts = append(parts, fmt.Sprintf("%s on %s", words.Plural(p.Cores, "core"), words.Plural(p.Sockets, "socket")))
	}
	if p.ThreadsPerCore > 0 {
		parts = append(parts, words.Plural(p.ThreadsPerCore, "thread")+" each")
	}
	if p.SMT != "" {
		parts = append(parts, "SMT "+smtText(p.SMT))
	}
	return strings.Join(parts, ", ")
}

// smtText is the kernel's word for simultaneous multithreading as people write it.
func smtText(state string) string {
	switch state {
	case "notsupported":
		return "not supported"
	case "notimplemented":
		return "not implemented"
	case "forceoff":
		return "forced off"
	}
	return state
}

func cachesText(all []trial.Cache) string {
	var parts []string
	for _, c := range all {
		text := fmt.Sprintf("L%d %s %s", c.Level, strings.ToLower(c.Type), bytesText(c.SizeBytes))
		if c.SharedBy != "" {
			text += " (cores " + c.SharedBy + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func frequencyText(p trial.Processor) string {
	if p.MaxHz <= 0 {
		return p.Driver
	}
	return withNote(fmt.Sprintf("%s to %s", printed("frequency_hz", p.MinHz), printed("frequency_hz", p.MaxHz)), p.Driver)
}

func idleText(all []trial.IdleState) string {
	var parts []string
	for _, s := range all {
		text := s.Name + " " + printed("latency_ns", s.LatencyS*1e9)
		if s.Disabled {
			text += " (disabled)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (t *rows) memory(e trial.Environment) {
	if e.MemoryBytes > 0 {
		t.say("memory", bytesText(e.MemoryBytes))
	}
	t.say("NUMA nodes", positive(e.NUMANodes))
	for _, n := range e.NUMA {
		t.say(fmt.Sprintf("NUMA node %d", n.Node), withNote("cores "+n.CPUs, sizeIf(n.MemoryBytes)))
	}
	for _, p := range e.Hugepages {
		t.say("hugepages of "+bytesText(p.SizeBytes), fmt.Sprintf("%d, %d free", p.Total, p.Free))
	}
}

func (t *rows) network(e trial.Environment) {
	for _, n := range e.NICs {
		parts := nonEmpty(n.Driver, n.Slot, n.Device)
		if n.NUMANode != nil {
			parts = append(parts, fmt.Sprintf("NUMA node %d", *n.NUMANode))
		}
		if n.SpeedBps > 0 {
			parts = append(parts, printed("speed_bps", n.SpeedBps))
		}
		if n.Interrupts > 0 {
			parts = append(parts, words.Plural(n.Interrupts, "interrupt")+" to cores "+n.IRQCores)
		}
		t.say("physical interface "+n.Interface, strings.Join(parts, ", "))
	}
}

func (t *rows) process(e trial.Environment) {
	t.say("privileges", e.Privileges)
	if c := e.Cgroup; c != nil {
		t.say("cgroup", strings.Join(nonEmpty(c.Version, c.Path, limitText("%g cores of time", c.CPUs), memoryLimit(c.MemoryBytes), limitText("%d processes", c.Pids),
			named("weight", c.CPUWeight), named("cores", c.CPUSet)), ", "))
	}
	var limits []string
	for _, name := range slices.Sorted(maps.Keys(e.Limits)) {
		limits = append(limits, name+" "+e.Limits[name])
	}
	t.say("limits, soft / hard", strings.Join(limits, ", "))
}

// limitText is a limit in words, empty where there is none.
func limitText[T any](format string, limit *T) string {
	if limit == nil {
		return ""
	}
	return fmt.Sprintf(format, *limit)
}

func memoryLimit(limit *uint64) string {
	if limit == nil {
		return ""
	}
	return bytesText(*limit) + " of memory"
}

func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " " + value
}

func bytesText(n uint64) string { return printed("size_bytes", float64(n)) }

// sizeIf is a size, empty where it is unknown.
func sizeIf(n uint64) string {
	if n == 0 {
		return ""
	}
	return bytesText(n)
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}
