package feature

import "testing"

const cpuDir = "sys/devices/system/cpu/"

func TestHardware(t *testing.T) {
	files := map[string]string{
		cpuDir + "online":                                "0-63\n",
		cpuDir + "cpu0/cpufreq/scaling_governor":         "performance\n",
		cpuDir + "cpu0/cpufreq/scaling_cur_freq":         "2100000\n",
		cpuDir + "cpu1/cpufreq/scaling_governor":         "performance\n",
		cpuDir + "cpu1/cpufreq/scaling_cur_freq":         "2400000\n",
		"sys/devices/system/node/online":                 "0-1\n",
		"sys/class/thermal/thermal_zone0/temp":           "40000\n",
		hugepageDir + "hugepages-2048kB/nr_hugepages":    "512\n",
		hugepageDir + "hugepages-2048kB/free_hugepages":  "500\n",
		hugepageDir + "hugepages-1048576kB/nr_hugepages": "0\n",
	}
	expect(t, files, map[string]string{
		CPUCount: "64", CPUGovernor: "performance", CPUFrequency: "2100 to 2400 MHz now",
		CPUTemperature: "1 sensors", NUMA: "2", Hugepages: "512 of 2048kB, 500 free",
	})
	files[cpuDir+"cpu1/cpufreq/scaling_governor"] = "powersave\n"
	files[cpuDir+"online"] = "0\n"
	files[hugepageDir+"hugepages-2048kB/nr_hugepages"] = "0\n"
	expect(t, files, map[string]string{CPUCount: "", CPUGovernor: "", Hugepages: ""})
	expect(t, nil, map[string]string{CPUGovernor: "", CPUFrequency: "", CPUTemperature: "", NUMA: "", Hugepages: ""})
}

const hugepageDir = "sys/kernel/mm/hugepages/"

// expect compares the details of features; an empty one is an absent feature.
func expect(t *testing.T, files, want map[string]string) {
	t.Helper()
	s := Probe(t.Context(), Env{Files: tree(t, files)})
	for name, detail := range want {
		f := s.Get(name)
		if f.Present != (detail != "") || f.Present && f.Detail != detail {
			t.Errorf("%+v, want detail %q", f, detail)
		}
		if !f.Present && (f.Why == "" || f.Fix == "") {
			t.Errorf("%s is absent without reason or fix: %+v", name, f)
		}
	}
}
