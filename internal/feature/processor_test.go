package feature

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

func TestProcessorOfAServer(t *testing.T) {
	files := map[string]string{
		"proc/cmdline":                                "quiet isolcpus=managed_irq,2-3 rcu_nocbs=2-3\n",
		"proc/self/status":                            "Name:\tx\nCpus_allowed_list:\t0-1\n",
		cpuDir + "isolated":                           "2-3\n",
		cpuDir + "nohz_full":                          "(null)\n",
		cpuDir + "smt/control":                        "on\n",
		cpuDir + "cpu0/cpufreq/scaling_driver":        "intel_pstate\n",
		cpuDir + "cpu0/cpufreq/scaling_min_freq":      "1200000\n",
		cpuDir + "cpu0/cpufreq/scaling_max_freq":      "3900000\n",
		cpuDir + "intel_pstate/no_turbo":              "0\n",
		cpuDir + "cpuidle/current_driver":             "intel_idle\n",
		cpuDir + "cpuidle/current_governor_ro":        "menu\n",
		cpuDir + "cpu0/cpuidle/state0/name":           "POLL\n",
		cpuDir + "cpu0/cpuidle/state0/latency":        "0\n",
		cpuDir + "cpu0/cpuidle/state10/name":          "C6\n",
		cpuDir + "cpu0/cpuidle/state10/latency":       "133\n",
		cpuDir + "cpu0/cpuidle/state10/disable":       "1\n",
		cpuDir + "cpu0/cache/index0/level":            "1\n",
		cpuDir + "cpu0/cache/index0/type":             "Data\n",
		cpuDir + "cpu0/cache/index0/size":             "32K\n",
		cpuDir + "cpu0/cache/index0/shared_cpu_list":  "0,2\n",
		cpuDir + "cpu0/cache/index3/level":            "3\n",
		cpuDir + "cpu0/cache/index3/size":             "broken\n",
		cpuDir + "vulnerabilities/meltdown":           "Mitigation: PTI\n",
		cpuDir + "vulnerabilities/spec_store_bypass":  "Vulnerable\n",
		cpuDir + "cpu1/topology/physical_package_id":  "1\n",
		cpuDir + "cpu1/topology/thread_siblings_list": "1,3\n",
	}
	for _, cpu := range []string{"0", "2"} {
		files[cpuDir+"cpu"+cpu+"/topology/physical_package_id"] = "0\n"
		files[cpuDir+"cpu"+cpu+"/topology/thread_siblings_list"] = "0,2\n"
	}
	env := Env{Files: tree(t, files)}
	want := trial.Processor{
		Sockets: 2, Cores: 2, ThreadsPerCore: 2, SMT: "on", Driver: "intel_pstate", MinHz: 1.2e9, MaxHz: 3.9e9, Turbo: "on",
		Caches:     []trial.Cache{{Level: 1, Type: "Data", SizeBytes: 32 << 10, SharedBy: "0,2"}},
		IdleDriver: "intel_idle, governor menu",
		IdleStates: []trial.IdleState{{Name: "POLL"}, {Name: "C6", Disabled: true, LatencyS: 133e-6}},
		Isolated:   "2-3", NohzFull: "none", RCUNocbs: "2-3", Allowed: "0-1",
	}
	if got := env.processor(); got == nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got, want := env.mitigations(), map[string]string{"meltdown": "Mitigation: PTI", "spec_store_bypass": "Vulnerable"}; !maps.Equal(got, want) {
		t.Errorf("mitigations %v, want %v", got, want)
	}
}

// TestNothingIsNotZero: a machine that tells nothing leaves all absent.
func TestNothingIsNotZero(t *testing.T) {
	env := Env{Files: tree(t, nil)}
	if env.processor() != nil || env.mitigations() != nil || env.numa() != nil || env.hugepages() != nil || env.nics() != nil ||
		env.cgroup() != nil || env.limits() != nil || env.container() != "" || env.firmware() != "" {
		t.Error("something is told of nothing")
	}
}

func TestTurbo(t *testing.T) {
	for _, c := range []struct{ file, value, want string }{
		{"intel_pstate/no_turbo", "1", "off"}, {"intel_pstate/no_turbo", "0", "on"}, {"cpufreq/boost", "1", "on"}, {"cpufreq/boost", "0", "off"}, {"cpufreq/boost", "?", ""},
	} {
		if got := (Env{Files: tree(t, map[string]string{cpuDir + c.file: c.value})}).turbo(); got != c.want {
			t.Errorf("%s = %s: %q, want %q", c.file, c.value, got, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	env := Env{Files: tree(t, map[string]string{
		"sys/devices/system/node/online":                "0-1\n",
		"sys/devices/system/node/node0/cpulist":         "0-3\n",
		"sys/devices/system/node/node0/meminfo":         "Node 0 MemTotal:       1024 kB\nNode 0 MemFree: 12 kB\n",
		"sys/devices/system/node/node1/cpulist":         "\n", // memory without cores
		hugepageDir + "hugepages-2048kB/nr_hugepages":   "8\n",
		hugepageDir + "hugepages-2048kB/free_hugepages": "5\n",
		hugepageDir + "hugepages-64kB/nr_hugepages":     "broken\n",
	})}
	if got, want := env.numa(), []trial.NUMANode{{Node: 0, CPUs: "0-3", MemoryBytes: 1 << 20}, {Node: 1}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := env.hugepages(), []trial.HugepagePool{{SizeBytes: 2 << 20, Total: 8, Free: 5}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNICs(t *testing.T) {
	root := tree(t, map[string]string{
		"sys/class/net/lo/address":             "00\n",
		"sys/class/net/ens1/speed":             "25000\n",
		"sys/class/net/ens2/speed":             "-1\n",
		"sys/devices/0000:3b:00.0/vendor":      "0x8086\n",
		"sys/devices/0000:3b:00.0/device":      "0x1572\n",
		"sys/devices/0000:3b:00.0/numa_node":   "1\n",
		"sys/devices/0000:3b:00.0/msi_irqs/40": "msix\n",
		"sys/devices/0000:3b:00.0/msi_irqs/41": "msix\n",
		"sys/devices/virtio2/vendor":           "0x1af4\n",
		"sys/bus/pci/drivers/i40e/new_id":      "x\n",
		"proc/irq/40/smp_affinity_list":        "0-3\n",
		"proc/irq/41/smp_affinity_list":        "0-3\n",
	})
	for link, target := range map[string]string{
		"sys/class/net/ens1/device":       "../../../devices/0000:3b:00.0",
		"sys/class/net/ens2/device":       "../../../devices/virtio2",
		"sys/devices/0000:3b:00.0/driver": "../../bus/pci/drivers/i40e",
	} {
		if err := os.Symlink(target, root.Path(link)); err != nil {
			t.Fatal(err)
		}
	}
	one := 1
	want := []trial.NIC{
		{Interface: "ens1", Driver: "i40e", Slot: "0000:3b:00.0", Device: "0x8086:0x1572", NUMANode: &one, SpeedBps: 25e9, Interrupts: 2, IRQCores: "0-3"},
		{Interface: "ens2", Slot: "virtio2", Device: "0x1af4:"},
	}
	if got := (Env{Files: root}).nics(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := root.Link(filepath.Join("sys", "class", "net", "lo", "device")); got != "" {
		t.Errorf("a link that is not there leads to %q", got)
	}
}
