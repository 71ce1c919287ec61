package experiment

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// Coordinate is one thing that a calibration varies while all others stay: a name, and the
// settings to try, each of one or more factors.
type Coordinate struct {
	Name     string
	Settings []map[string]any
}

// Coordinates are what can load a path more or less, in the order in which a calibration
// goes through them, on a machine of so many CPUs: Livi et al. (2016, §IV-A) went through
// flows, zerocopy and the size of packets by hand. The number of flows comes again at the
// end, because the best one follows from the rest.
func Coordinates(cpus int) []Coordinate {
	flows := Coordinate{Name: "flows"}
	for _, n := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} {
		if n <= max(8, 2*cpus) {
			flows.Settings = append(flows.Settings, map[string]any{"flows": n})
		}
	}
	again := Coordinate{"flows again", flows.Settings}
	return []Coordinate{
		flows,
		{"zerocopy", each("zerocopy", false, true)},
		{"payload_size", each("payload_size", "8KiB", "32KiB", "128KiB", "512KiB", "1MiB")},
		{"mtu", each("mtu", 1500, 9000, 65535)},
		{"super-packets", superPackets("64KiB", "128KiB", "256KiB")},
		again,
	}
}

// CalibrationStarts are where a calibration may begin: at what the published experiments use
// and the kernel begins with, and at the same on a kernel older than Linux 6.3, which
// has no sizes of super-packets to be set.
func CalibrationStarts() []map[string]any {
	old := map[string]any{"flows": 1, "zerocopy": false, "payload_size": "128KiB", "mtu": 1500}
	start := superPackets("64KiB")[0]
	maps.Copy(start, old)
	return []map[string]any{start, old}
}

func each(field string, values ...any) (settings []map[string]any) {
	for _, v := range values {
		settings = append(settings, map[string]any{field: v})
	}
	return settings
}

// superPackets are the sizes up to which TCP's segments go through a host in one piece,
// sent and received; above 64 KiB that is BIG TCP.
func superPackets(sizes ...string) (settings []map[string]any) {
	for _, size := range sizes {
		settings = append(settings, map[string]any{
			"chain.tuning.gso_ipv4_max_size": size, "chain.tuning.gro_ipv4_max_size": size,
		})
	}
	return settings
}

// Cells are the combinations that a coordinate tries, all else as it is; the first is what
// is preferred so far.
func (c Coordinate) Cells(so map[string]any) []map[string]any {
	cells := []map[string]any{so}
	for _, s := range c.Settings {
		cell := maps.Clone(so)
		maps.Copy(cell, s)
		// What was measured has numbers where settings have sizes: 131072 for 128KiB.
		alike := func(other map[string]any) bool {
			return len(other) == len(cell) && Matches(trial.Condition{Factors: other}, cell)
		}
		if !slices.ContainsFunc(cells, alike) {
			cells = append(cells, cell)
		}
	}
	return cells
}
