package published_test

import "testing"

// The text has eightfold where its table has 9.2, and close to a line what is none.
func TestBittarTable3(t *testing.T) {
	const id = "bittar2023/table-3"
	printed := asPrinted(t, id, func(f map[string]any) map[string]float64 { // over bridges as over the forwarder
		return map[string]float64{"latency_mean_ns": map[float64]float64{2: 0.529e6, 3: 4.872e6, 6: 8.402e6}[level(f, "length")]}
	})
	paper{id: id, cores: 4, truth: printed}.expect(t, map[string]string{
		"table-3": fails, "table-3:grows": holds, "table-3:bridge": fails, "table-3:bridge-grows": holds,
		"table-3:eightfold": holds, "table-3:double": holds, "table-3-spread": holds,
	})
	paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 { // a line, and a share of the mean that falls, while the spread grows
		mean := 0.1e6 + 0.4e6*(level(f, "length")-2)
		return map[string]float64{"latency_mean_ns": mean, "latency_min_ns": mean - 0.08e6, "latency_max_ns": mean + 0.01e6*level(f, "length")}
	}}.expect(t, map[string]string{
		"table-3": holds, "table-3:grows": holds, "table-3:bridge": holds, "table-3:bridge-grows": holds,
		"table-3:eightfold": fails, "table-3:double": fails, "table-3-spread": holds,
	})
	paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 { // longer is faster, and steadier, though not by its share
		mean := 1e6 / level(f, "length") / level(f, "length") / level(f, "length")
		return map[string]float64{"latency_mean_ns": mean, "latency_min_ns": mean / 2, "latency_max_ns": mean * (1 + level(f, "length"))}
	}}.expect(t, map[string]string{
		"table-3": fails, "table-3:grows": fails, "table-3:bridge": fails, "table-3:bridge-grows": fails,
		"table-3:eightfold": fails, "table-3:double": fails, "table-3-spread": fails,
	})
}

// Six pods in a chain take longer than three, and the last of them longest; and on a machine where nothing of that matters.
func TestBittarTable2(t *testing.T) {
	const id = "bittar2023/table-2"
	mean, alone := map[float64]float64{3: 3e9, 6: 6.93e9}, map[float64]float64{3: 2.73e9, 6: 4.36e9}
	last := map[float64]float64{3: 5e9, 6: 25e9}
	paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 {
		n := level(f, "copies")
		return map[string]float64{"start_mean_ns": mean[n], "start_min_ns": 1e9, "start_max_ns": last[n], "start_alone_ns": alone[n], "reachable_ns": last[n], "start_factor": mean[n] / alone[n]}
	}}.expect(t, map[string]string{
		"table-2": holds, "table-2:three": holds, "table-2:containerd": holds,
		"table-2-double": holds, "table-2-double:plain": holds, "table-2-double:hardly": fails, "table-2-double:last": holds,
	})
	paper{id: id, cores: 4, truth: func(map[string]any) map[string]float64 {
		return map[string]float64{"start_mean_ns": 1e9, "start_min_ns": 1e9, "start_max_ns": 1e9, "start_alone_ns": 0.99e9, "reachable_ns": 1e9, "start_factor": 1.01}
	}}.expect(t, map[string]string{
		"table-2": fails, "table-2:three": fails, "table-2:containerd": fails,
		"table-2-double": fails, "table-2-double:plain": fails, "table-2-double:hardly": holds, "table-2-double:last": fails,
	})
}

// The forwarder of the other node is slowest and least steady to come back; and on a machine where it is the contrary.
func TestBittarTable1(t *testing.T) {
	const id = "bittar2023/table-1"
	other := func(f map[string]any) bool { return f["harm"] == "interface server" }
	steady := func(yes bool) func(f map[string]any) float64 {
		return func(f map[string]any) float64 {
			if other(f) == yes {
				return 1
			}
			return 20
		}
	}
	printed := asPrinted(t, id, func(map[string]any) map[string]float64 { return map[string]float64{"outage_ns": 0.2e9} })
	paper{id: id, cores: 4, truth: printed, scatter: steady(false)}.expect(t, map[string]string{
		"table-1": holds, "table-1:both": holds, "table-1:both-control": holds, "table-1:control": holds,
		"table-1:spread": holds, "table-1:spread-both": holds, "table-1:spread-control": holds, "table-1:function": holds,
	})
	paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 {
		if other(f) {
			return map[string]float64{"outage_ns": 1e9}
		}
		if f["harm"] == "interface client, interface server" {
			return map[string]float64{"outage_ns": 2e9}
		}
		return map[string]float64{"outage_ns": 4e9}
	}, scatter: steady(true)}.expect(t, map[string]string{
		"table-1": fails, "table-1:both": fails, "table-1:both-control": fails, "table-1:control": fails,
		"table-1:spread": fails, "table-1:spread-both": fails, "table-1:spread-control": fails, "table-1:function": fails,
	})
}

// A chain carries half of what a bridge does, and less with more functions; and on a machine where it carries more.
func TestBittarFig11(t *testing.T) {
	const id = "bittar2023/fig11-13"
	carried := func(plain, chain, more float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			if f["wiring"] != "ebpf" {
				return map[string]float64{"goodput_bps": plain}
			}
			return map[string]float64{"goodput_bps": chain + more*level(f, "copies")}
		}
	}
	paper{id: id, cores: 4, truth: carried(1.1e9, 0.53e9, -0.01e9)}.expect(t, map[string]string{"fig11-13": holds, "fig11-13:less": holds, "fig11-13:bridge": holds, "fig11-13:functions": holds})
	paper{id: id, cores: 4, truth: carried(1.1e9, 1.2e9, 0.01e9)}.expect(t, map[string]string{"fig11-13": fails, "fig11-13:less": fails, "fig11-13:bridge": fails, "fig11-13:functions": fails})
}

// Traffic is no matter to the control plane; and on a machine where it is.
func TestBittarFig9(t *testing.T) {
	const id = "bittar2023/fig9-10"
	taken := func(more, rest float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			traffic := 1.0
			if f["protocol"] == "tcp" {
				traffic = more
			}
			return map[string]float64{
				"control_cpus": 0.02 * traffic, "supervisor_cpus": 0.005 * traffic, "engine_cpus": 0.015 * traffic,
				"control_memory_bytes": 90e6 * traffic, "supervisor_memory_bytes": 30e6 * traffic, "engine_memory_bytes": 60e6 * traffic, "control_rest": rest,
			}
		}
	}
	paper{id: id, cores: 4, truth: taken(1.02, 0.1)}.expect(t, map[string]string{
		"fig9-10": holds, "fig9-10:supervisor": holds, "fig9-10:engine": holds,
		"fig9-10:memory": holds, "fig9-10:supervisor-memory": holds, "fig9-10:engine-memory": holds, "fig9-10:rises": holds,
	})
	paper{id: id, cores: 4, truth: taken(1.5, 0.9)}.expect(t, map[string]string{
		"fig9-10": fails, "fig9-10:supervisor": fails, "fig9-10:engine": fails,
		"fig9-10:memory": fails, "fig9-10:supervisor-memory": fails, "fig9-10:engine-memory": fails, "fig9-10:rises": fails,
	})
}
