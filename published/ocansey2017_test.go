package published_test

import (
	"maps"
	"math"
	"testing"
)

// theTables has the verdicts of what an experiment's own reference values are, and those of
// a machine on which the two wirings have changed places.
func theTables(t *testing.T, id string, printed, changed map[string]string) {
	t.Helper()
	truth := asPrinted(t, id, nil)
	paper{id: id, cores: 4, truth: truth}.expect(t, printed)
	other := map[any]any{"bridge": "ovs", "ovs": "bridge"}
	paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 {
		swapped := map[string]any{}
		for field, v := range f {
			swapped[field] = v
		}
		swapped["wiring"] = other[f["wiring"]]
		return truth(swapped)
	}}.expect(t, changed)
}

// The text has 18% where its table has 1.9%.
func TestOcanseyTableA1(t *testing.T) {
	theTables(t, "ocansey2017/table-a1", map[string]string{
		"table-a1:each": holds, "table-a1:text": fails, "table-a1:table": holds,
		"table-a1:rises-bridge": holds, "table-a1:rises-ovs": holds, "table-a1:flat-bridge": holds, "table-a1:flat-ovs": holds,
	}, map[string]string{
		"table-a1:each": fails, "table-a1:text": fails, "table-a1:table": fails,
		"table-a1:rises-bridge": holds, "table-a1:rises-ovs": holds, "table-a1:flat-bridge": holds, "table-a1:flat-ovs": holds,
	})
	falling := func(f map[string]any) map[string]float64 {
		return map[string]float64{"goodput_bps": 2e9 / level(f, "flows")}
	}
	paper{id: "ocansey2017/table-a1", cores: 4, truth: falling}.expect(t, map[string]string{
		"table-a1:each": undecided, "table-a1:text": fails, "table-a1:table": fails,
		"table-a1:rises-bridge": fails, "table-a1:rises-ovs": fails, "table-a1:flat-bridge": fails, "table-a1:flat-ovs": fails,
	})
}

// The text has 25% to 65% and every size, the table 18% to 88% and the reverse at 60 kb; the
// abstract 22% less, the table 15%.
func TestOcanseyTableA2(t *testing.T) {
	theTables(t, "ocansey2017/table-a2", map[string]string{
		"table-a2:each": fails, "table-a2:below-60": holds, "table-a2:at-60": holds, "table-a2:text": fails, "table-a2:table": holds,
		"table-a2:abstract": fails, "table-a2:conclusion": fails,
	}, map[string]string{
		"table-a2:each": fails, "table-a2:below-60": fails, "table-a2:at-60": fails, "table-a2:text": fails, "table-a2:table": fails,
		"table-a2:abstract": fails, "table-a2:conclusion": fails,
	})
}

// The text has 20% where its table has 2.3%.
func TestOcanseyTableA3(t *testing.T) {
	theTables(t, "ocansey2017/table-a3",
		map[string]string{"table-a3:each": holds, "table-a3:text": fails, "table-a3:table": holds},
		map[string]string{"table-a3:each": fails, "table-a3:text": fails, "table-a3:table": fails})
}

// The text has 82% and 4% from 100 to 150 containers, the table 104% and 7%.
func TestOcanseyTableA4(t *testing.T) {
	id := "ocansey2017/table-a4"
	truth := asPrinted(t, id, func(map[string]any) map[string]float64 { return map[string]float64{"latency_mean_ns": 5e6} })
	paper{id: id, cores: 4, truth: truth}.expect(t, map[string]string{
		"table-a4:rises-bridge": holds, "table-a4:rises-ovs": holds, "table-a4:jump-text": fails, "table-a4:jump-table": holds,
		"table-a4:ovs-text": fails, "table-a4:ovs-table": holds, "table-a4:change": holds,
	})
	less := func(f map[string]any) map[string]float64 {
		return map[string]float64{"latency_mean_ns": 1e6 / level(f, "length")}
	}
	paper{id: id, cores: 4, truth: less}.expect(t, map[string]string{
		"table-a4:rises-bridge": fails, "table-a4:rises-ovs": fails, "table-a4:jump-text": fails, "table-a4:jump-table": fails,
		"table-a4:ovs-text": fails, "table-a4:ovs-table": fails, "table-a4:change": undecided,
	})
}

// With containers of Docker it is the same table.
func TestOcanseyTableA4Docker(t *testing.T) {
	id := "ocansey2017/table-a4-docker"
	truth := asPrinted(t, id, func(map[string]any) map[string]float64 { return map[string]float64{"latency_mean_ns": 5e6} })
	paper{id: id, cores: 4, truth: truth}.expect(t, map[string]string{
		"table-a4:docker-rises-bridge": holds, "table-a4:docker-rises-ovs": holds, "table-a4:docker-jump-text": fails, "table-a4:docker-jump-table": holds,
		"table-a4:docker-ovs-text": fails, "table-a4:docker-ovs-table": holds, "table-a4:docker-change": holds,
	})
}

// With containers of Docker the others are the same tables too, whatever hangs on the switch.
func TestOcanseyTablesDocker(t *testing.T) {
	for id, claims := range map[string][]map[string]string{
		"a1": {{"docker-each": holds, "docker-each-150": holds, "docker-text": fails, "docker-table": holds, "docker-rises-bridge": holds,
			"docker-rises-ovs": holds, "docker-flat-bridge": holds, "docker-flat-ovs": holds}},
		"a2": {{"docker-each": fails, "docker-each-150": fails, "docker-below-60": holds, "docker-below-60-150": holds, "docker-at-60": holds,
			"docker-text": fails, "docker-table": holds, "docker-abstract": fails, "docker-conclusion": fails}},
		"a3": {{"docker-each": holds, "docker-each-150": holds, "docker-text": fails, "docker-table": holds}},
		"5.1": {{"docker-loss-bridge": holds, "docker-loss-bridge-150": holds, "docker-order-bridge": holds, "docker-step-order-bridge": holds,
			"docker-step-loss-bridge": holds, "docker-loss-ovs": holds, "docker-loss-ovs-150": holds, "docker-order-ovs": holds,
			"docker-step-order-ovs": holds, "docker-step-loss-ovs": fails},
			{"docker": holds, "docker-150": holds, "docker-text": fails, "docker-table": holds}},
	} {
		want := map[string]string{}
		for i, all := range claims {
			of := "table-" + id
			switch {
			case id == "5.1" && i == 0:
				of = "table-5.1-5.2"
			case id == "5.1":
				of = "fig5.5"
			}
			for claim, verdict := range all {
				want[of+":"+claim] = verdict
			}
		}
		id = "ocansey2017/table-" + id + "-docker"
		printed := asPrinted(t, id, nil)
		paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 {
			past := maps.Clone(f)
			past["path"], past["length"] = "direct", 2
			return printed(past)
		}}.expect(t, want)
		// What many containers on the switch turn round is told of them alone.
		if id != "ocansey2017/table-a1-docker" {
			continue
		}
		want["table-a1:docker-each-150"] = fails
		paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 {
			past := maps.Clone(f)
			past["path"], past["length"] = "direct", 2
			if level(f, "length") == 150 && f["wiring"] == "bridge" {
				return map[string]float64{"goodput_bps": 1e9}
			}
			return printed(past)
		}}.expect(t, want)
	}
}

// What a web server gives behind functions goes with the size of frames and of objects, or not.
func TestOcanseyWeb(t *testing.T) {
	for sign, verdict := range map[float64]string{1: holds, -1: fails} {
		paper{id: "ocansey2017/web", cores: 4, truth: func(f map[string]any) map[string]float64 {
			for _, size := range []string{"frame_size", "response_size"} {
				if f[size] != nil {
					return map[string]float64{"goodput_bps": 1e9 * math.Pow(level(f, size), sign)}
				}
			}
			return map[string]float64{"goodput_bps": 1e9}
		}}.expect(t, map[string]string{"table-b1:web-frames": verdict, "table-b1:web-objects": verdict})
	}
}

// One bridge takes 1,024 ports or 124, of which this kernel keeps to neither.
func TestOcanseyPorts(t *testing.T) {
	upTo := func(ports float64) func(map[string]any) map[string]float64 {
		return func(f map[string]any) map[string]float64 {
			if level(f, "length") > ports {
				return nil
			}
			return map[string]float64{"transactions": 5000}
		}
	}
	for ports, want := range map[float64]map[string]string{
		1023: {"ports": holds, "ports:1024": fails, "ports:124": fails},
		1024: {"ports": holds, "ports:1024": holds, "ports:124": fails},
		124:  {"ports": holds, "ports:1024": fails, "ports:124": holds},
		2000: {"ports": fails, "ports:1024": fails, "ports:124": fails},
	} {
		paper{id: "ocansey2017/ports", cores: 4, truth: upTo(ports), refused: "a Linux bridge answers EXFULL"}.expect(t, want)
	}
	paper{id: "ocansey2017/ports", cores: 4, truth: upTo(124), refused: "without root"}.expect(t, map[string]string{
		"ports": untold, "ports:1024": untold, "ports:124": untold,
	})
}

// The text has 55% where its tables have 15%, and a loss that rises from 120 to 160 Mb/s, which
// over OVS falls in them.
func TestOcanseyTables51And52(t *testing.T) {
	tables := map[string]string{
		"table-5.1-5.2:loss-bridge": holds, "table-5.1-5.2:order-bridge": holds, "table-5.1-5.2:step-order-bridge": holds, "table-5.1-5.2:step-loss-bridge": holds,
		"table-5.1-5.2:loss-ovs": holds, "table-5.1-5.2:order-ovs": holds, "table-5.1-5.2:step-order-ovs": holds, "table-5.1-5.2:step-loss-ovs": fails,
		"fig5.5": holds, "fig5.5:text": fails, "fig5.5:table": holds,
	}
	changed := map[string]string{
		"table-5.1-5.2:loss-bridge": holds, "table-5.1-5.2:order-bridge": holds, "table-5.1-5.2:step-order-bridge": holds, "table-5.1-5.2:step-loss-bridge": fails,
		"table-5.1-5.2:loss-ovs": holds, "table-5.1-5.2:order-ovs": holds, "table-5.1-5.2:step-order-ovs": holds, "table-5.1-5.2:step-loss-ovs": holds,
		"fig5.5": fails, "fig5.5:text": fails, "fig5.5:table": fails,
	}
	theTables(t, "ocansey2017/table-5.1", tables, changed)
	// What is 0 throughout does not rise; of two that are 0 neither is more.
	lossless := map[string]string{
		"table-5.1-5.2:loss-bridge": fails, "table-5.1-5.2:order-bridge": fails, "table-5.1-5.2:step-order-bridge": fails, "table-5.1-5.2:step-loss-bridge": untold,
		"table-5.1-5.2:loss-ovs": fails, "table-5.1-5.2:order-ovs": fails, "table-5.1-5.2:step-order-ovs": fails, "table-5.1-5.2:step-loss-ovs": untold,
		"fig5.5": untold, "fig5.5:text": fails, "fig5.5:table": fails,
	}
	nothing := func(map[string]any) map[string]float64 {
		return map[string]float64{"loss_ratio": 0, "reordered_packets": 0, "jitter_ns": 1000}
	}
	paper{id: "ocansey2017/table-5.1", cores: 4, truth: nothing}.expect(t, lossless)
}

func TestOcanseyTableB1(t *testing.T) {
	id := "ocansey2017/table-b1"
	rising := asPrinted(t, id, func(f map[string]any) map[string]float64 {
		return map[string]float64{"goodput_bps": 1e9 + 1e6*level(f, either(f, "frame_size", "payload_size"))}
	})
	paper{id: id, cores: 4, truth: rising}.expect(t, map[string]string{"table-b1:sends": holds, "table-b1:frames": holds, "table-b1": untold, "table-b3": untold})
	falling := func(f map[string]any) map[string]float64 {
		return map[string]float64{"goodput_bps": 1e9 / level(f, either(f, "frame_size", "payload_size", "request_size"))}
	}
	paper{id: id, cores: 4, truth: falling}.expect(t, map[string]string{"table-b1:sends": fails, "table-b1:frames": fails, "table-b1": untold, "table-b3": untold})
}

// either is the first of the fields that a condition has.
func either(factors map[string]any, fields ...string) string {
	for _, f := range fields {
		if factors[f] != nil {
			return f
		}
	}
	return fields[len(fields)-1]
}
