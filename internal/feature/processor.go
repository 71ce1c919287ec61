package feature

import (
	"path"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

const cpuRoot = "sys/devices/system/cpu/"

// processor is how the cores are built and set; nil where nothing is told.
func (e Env) processor() *trial.Processor {
	p := trial.Processor{
		SMT:        e.text(cpuRoot + "smt/control"),
		Caches:     e.caches(),
		Driver:     e.text(cpuRoot + "cpu0/cpufreq/scaling_driver"),
		MinHz:      e.kilohertz("cpu0/cpufreq/scaling_min_freq"),
		MaxHz:      e.kilohertz("cpu0/cpufreq/scaling_max_freq"),
		Turbo:      e.turbo(),
		IdleDriver: e.idleDriver(),
		IdleStates: e.idleStates(),
		Isolated:   e.coreList("isolated", "isolcpus"),
		NohzFull:   e.coreList("nohz_full", "nohz_full"),
		RCUNocbs:   e.coreList("", "rcu_nocbs"),
		Allowed:    procfs.Field(e.text("proc/self/status"), "Cpus_allowed_list"),
	}
	p.Sockets, p.Cores, p.ThreadsPerCore = e.topology()
	if emptyProcessor(p) {
		return nil
	}
	return &p
}

// emptyProcessor tells one of which nothing is known.
func emptyProcessor(p trial.Processor) bool {
	return p.Caches == nil && p.IdleStates == nil && p.Sockets == 0 && p.MaxHz == 0 &&
		p.SMT+p.Driver+p.Turbo+p.IdleDriver+p.Isolated+p.NohzFull+p.RCUNocbs+p.Allowed == ""
}

// topology counts sockets and cores, and the threads of core 0, by the lists that
// the online ones have (Documentation/admin-guide/cputopology.rst).
func (e Env) topology() (sockets, cores, threads int) {
	packages, siblings := map[string]bool{}, map[string]bool{}
	for _, dir := range e.Files.Glob(cpuRoot + "cpu[0-9]*/topology") {
		if s, ok := e.Files.Text(path.Join(dir, "physical_package_id")); ok {
			packages[s] = true
		}
		s, ok := e.Files.Text(path.Join(dir, "thread_siblings_list"))
		if ok {
			siblings[s] = true
		}
	}
	together, _ := e.Files.List(cpuRoot + "cpu0/topology/thread_siblings_list")
	return len(packages), len(siblings), len(together)
}

// caches are those of core 0, in the kernel's order.
func (e Env) caches() (all []trial.Cache) {
	for _, dir := range e.Files.Glob(cpuRoot + "cpu0/cache/index[0-9]*") {
		level, ok := e.Files.Uint(path.Join(dir, "level"))
		size, sized := parseSize(e.text(path.Join(dir, "size")))
		if !ok || !sized {
			continue
		}
		all = append(all, trial.Cache{Level: int(level), Type: e.text(path.Join(dir, "type")), SizeBytes: size,
			SharedBy: e.text(path.Join(dir, "shared_cpu_list"))})
	}
	return all
}

// parseSize reads "32K", as the kernel writes the sizes of caches.
func parseSize(s string) (uint64, bool) {
	number, unit := s, uint64(1)
	for suffix, factor := range map[string]uint64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = rest, factor
		}
	}
	n, err := strconv.ParseUint(number, 10, 32)
	return n * unit, err == nil
}

func (e Env) kilohertz(name string) float64 {
	n, _ := e.Files.Uint(cpuRoot + name)
	return float64(n) * 1e3
}

// turbo is on or off, by whichever file this machine's driver has.
func (e Env) turbo() string {
	words := map[string]string{"0": "off", "1": "on"}
	if s, ok := e.Files.Text(cpuRoot + "intel_pstate/no_turbo"); ok {
		words = map[string]string{"0": "on", "1": "off"}
		return words[s]
	}
	return words[e.text(cpuRoot+"cpufreq/boost")]
}

// idleDriver, with the governor that chooses among its states.
func (e Env) idleDriver() string {
	driver := e.text(cpuRoot + "cpuidle/current_driver")
	governor, ok := e.Files.Text(cpuRoot + "cpuidle/current_governor")
	if !ok {
		governor = e.text(cpuRoot + "cpuidle/current_governor_ro")
	}
	if driver == "" || governor == "" {
		return driver
	}
	return driver + ", governor " + governor
}

// idleStates are the C-states of core 0.
func (e Env) idleStates() (all []trial.IdleState) {
	for _, dir := range e.Files.Glob(cpuRoot + "cpu0/cpuidle/state[0-9]*") {
		name, ok := e.Files.Text(path.Join(dir, "name"))
		if !ok {
			continue
		}
		latency, _ := e.Files.Uint(path.Join(dir, "latency"))
		all = append(all, trial.IdleState{Name: name, Disabled: e.text(path.Join(dir, "disable")) == "1", LatencyS: float64(latency) / 1e6})
	}
	return all
}

// coreList is a list of cores set at boot: by its file, else by its word on the
// kernel's command line. Empty is unknown.
func (e Env) coreList(file, word string) string {
	if file != "" {
		if _, ok := e.Files.List(cpuRoot + file); ok {
			return e.text(cpuRoot + file)
		}
	}
	cmdline, ok := e.Files.Text("proc/cmdline")
	if !ok {
		return ""
	}
	for _, w := range strings.Fields(cmdline) {
		if value, found := strings.CutPrefix(w, word+"="); found {
			return value
		}
	}
	return "none"
}

// mitigations are what the kernel does about each vulnerability it knows.
func (e Env) mitigations() map[string]string {
	found := map[string]string{}
	for _, name := range e.Files.Glob(cpuRoot + "vulnerabilities/*") {
		e.addSetting(found, path.Base(name), name)
	}
	if len(found) == 0 {
		return nil
	}
	return found
}
