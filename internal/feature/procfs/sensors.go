package procfs

import (
	"path"
	"strconv"
	"strings"
)

// Frequencies is each online core's frequency now, Hz, in core order, or nil
// where the machine cannot tell. Only cpufreq is believed; without it, the "cpu
// MHz" of /proc/cpuinfo is a measurement only on a real processor that counts
// its cycles (aperfmperf). Under a hypervisor it is a nominal figure, so none is
// given.
func (r Root) Frequencies() []float64 {
	var hz []float64
	for _, name := range r.Glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq") {
		if kHz, ok := r.Uint(name); ok && kHz > 0 {
			hz = append(hz, float64(kHz)*1e3)
		}
	}
	if hz != nil {
		return hz
	}
	if info := r.CPUInfo(); info.Flag("hypervisor") || !info.Flag("aperfmperf") {
		return nil
	}
	text, _ := r.Text("proc/cpuinfo")
	return parseMegahertz(text)
}

func parseMegahertz(cpuinfo string) []float64 {
	var hz []float64
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) != "cpu MHz" {
			continue
		}
		if mhz, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && mhz > 0 && mhz < 1e6 {
			hz = append(hz, mhz*1e6)
		}
	}
	return hz
}

// Temperatures is every sensor's reading now, °C, by where it sits
// ("thermal_zone0:x86_pkg_temp", "hwmon1:coretemp:Package id 0"), or nil where
// there is no sensor.
func (r Root) Temperatures() map[string]float64 {
	celsius := map[string]float64{}
	for _, zone := range r.Glob("sys/class/thermal/thermal_zone[0-9]*") {
		r.addTemperature(celsius, path.Join(zone, "temp"), path.Base(zone), path.Join(zone, "type"))
	}
	for _, input := range r.Glob("sys/class/hwmon/hwmon[0-9]*/temp[0-9]*_input") {
		chip := path.Dir(input)
		label := strings.TrimSuffix(input, "_input") + "_label"
		r.addTemperature(celsius, input, path.Base(chip), path.Join(chip, "name"), label)
	}
	if len(celsius) == 0 {
		return nil
	}
	return celsius
}

// addTemperature adds what input reads, millidegrees, under a name made of first
// and the contents of the name files that exist. Two sensors of one name are
// told apart by their file.
func (r Root) addTemperature(celsius map[string]float64, input, first string, names ...string) {
	milli, ok := r.Int(input)
	if !ok {
		return
	}
	key := first
	for _, name := range names {
		if s, ok := r.Text(name); ok {
			key += ":" + s
		}
	}
	if _, taken := celsius[key]; taken {
		key += ":" + strings.TrimSuffix(path.Base(input), "_input")
	}
	celsius[key] = float64(milli) / 1000
}
