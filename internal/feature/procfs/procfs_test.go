package procfs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tree writes files under a fresh root.
func tree(t *testing.T, files map[string]string) Root {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Root(dir)
}

func TestTextAndNumbers(t *testing.T) {
	r := tree(t, map[string]string{"a": " 12\n", "b": "", "c": "-7\n", "d": "Raspberry Pi\x00"})
	if s, ok := r.Text("a"); s != "12" || !ok {
		t.Errorf("Text(a) = %q, %v", s, ok)
	}
	if _, ok := r.Text("b"); ok {
		t.Error("an empty file counts as read")
	}
	if _, ok := r.Uint("c"); ok {
		t.Error("-7 was read as unsigned")
	}
	if n, ok := r.Int("c"); n != -7 || !ok {
		t.Errorf("Int(c) = %d, %v", n, ok)
	}
	if s, _ := r.Text("d"); s != "Raspberry Pi" {
		t.Errorf("Text(d) = %q", s)
	}
	if _, ok := r.Uint("missing"); ok || r.Exists("missing") {
		t.Error("a missing file was read")
	}
}

func TestGlobIsNatural(t *testing.T) {
	r := tree(t, map[string]string{"cpu10/f": "1", "cpu2/f": "1", "cpu1/f": "1"})
	want := []string{"cpu1/f", "cpu2/f", "cpu10/f"}
	if got := r.Glob("cpu[0-9]*/f"); !slices.Equal(got, want) {
		t.Errorf("Glob = %v, want %v", got, want)
	}
}

func TestParseList(t *testing.T) {
	for in, want := range map[string][]int{
		"0": {0}, "0-2": {0, 1, 2}, "0-1,4,6-7\n": {0, 1, 4, 6, 7},
		"": nil, "3-1": nil, "a": nil, "0-99999999": nil, "1,,2": nil, "-1": nil,
	} {
		got, ok := ParseList(in)
		if !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("ParseList(%q) = %v, %v, want %v", in, got, ok, want)
		}
	}
}

func TestParseMeminfo(t *testing.T) {
	got := ParseMeminfo("MemTotal:       24684084 kB\nHugePages_Total:       3\nOdd: x kB\nPages: 1 MB\n")
	want := map[string]uint64{"MemTotal": 24684084 * 1024, "HugePages_Total": 3}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCPUInfo(t *testing.T) {
	info := ParseCPUInfo("processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: other\n")
	if info.Processors != 2 || info.Fields["model name"] != "AMD EPYC" {
		t.Errorf("got %+v", info)
	}
	if !info.Flag("hypervisor") || info.Flag("hyper") {
		t.Error("flags are not matched as whole words")
	}
}

func TestFrequencies(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	cases := map[string]struct {
		files map[string]string
		want  []float64
	}{
		"cpufreq": {map[string]string{
			cpu + "cpu0/cpufreq/scaling_cur_freq":  "2400000\n",
			cpu + "cpu10/cpufreq/scaling_cur_freq": "3000000\n",
			cpu + "cpu2/cpufreq/scaling_cur_freq":  "2500000\n",
			"proc/cpuinfo":                         "cpu MHz : 1000\nflags : aperfmperf\n",
		}, []float64{2.4e9, 2.5e9, 3e9}},
		"real processor":  {map[string]string{"proc/cpuinfo": "cpu MHz\t: 2596.142\nflags : aperfmperf\n"}, []float64{2596142000}},
		"virtual":         {map[string]string{"proc/cpuinfo": "cpu MHz\t: 2596.142\nflags : aperfmperf hypervisor\n"}, nil},
		"nominal figure":  {map[string]string{"proc/cpuinfo": "cpu MHz\t: 2596.142\nflags : tsc\n"}, nil},
		"nothing to read": {nil, nil},
	}
	for name, c := range cases {
		if got := tree(t, c.files).Frequencies(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestTemperatures(t *testing.T) {
	r := tree(t, map[string]string{
		"sys/class/thermal/thermal_zone0/type":  "x86_pkg_temp\n",
		"sys/class/thermal/thermal_zone0/temp":  "45500\n",
		"sys/class/thermal/thermal_zone1/type":  "broken\n",
		"sys/class/hwmon/hwmon3/name":           "coretemp\n",
		"sys/class/hwmon/hwmon3/temp1_input":    "-1000\n",
		"sys/class/hwmon/hwmon3/temp1_label":    "Package id 0\n",
		"sys/class/hwmon/hwmon4/temp1_input":    "30000\n",
		"sys/class/hwmon/hwmon4/temp2_input":    "31000\n",
		"sys/class/hwmon/hwmon4/in1_input":      "5\n",
		"sys/class/hwmon/hwmon4/temp3_input":    "rubbish\n",
		"sys/class/thermal/cooling_device0/max": "1\n",
	})
	want := map[string]float64{
		"thermal_zone0:x86_pkg_temp":   45.5,
		"hwmon3:coretemp:Package id 0": -1,
		"hwmon4":                       30,
		"hwmon4:temp2":                 31,
	}
	if got := r.Temperatures(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := tree(t, nil).Temperatures(); got != nil {
		t.Errorf("no sensor: got %v, want nil", got)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add("0-3,8")
	f.Add("MemTotal:       24684084 kB\n")
	f.Add("processor\t: 0\ncpu MHz\t: 2596.142\nflags : a b\n")
	f.Fuzz(func(t *testing.T, s string) {
		if list, ok := ParseList(s); ok && (len(list) == 0 || len(list) > maxListed) {
			t.Errorf("ParseList(%q) gave %d numbers", s, len(list))
		}
		ParseMeminfo(s)
		ParseCPUInfo(s).Flag("a")
		for _, hz := range parseMegahertz(s) {
			if !(hz > 0) {
				t.Errorf("%q: frequency %v", s, hz)
			}
		}
	})
}

func FuzzNaturalOrder(f *testing.F) {
	f.Add("cpu2", "cpu10", "cpu010")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if (compareNatural(a, b) < 0) != (compareNatural(b, a) > 0) {
			t.Errorf("%q and %q are not ordered one way", a, b)
		}
		if compareNatural(a, b) < 0 && compareNatural(b, c) < 0 && compareNatural(a, c) >= 0 {
			t.Errorf("%q < %q < %q is not transitive", a, b, c)
		}
	})
}
