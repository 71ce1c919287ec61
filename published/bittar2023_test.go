package published_test

import "testing"

// The text has eightfold where its table has 9.2.
func TestBittarTable3(t *testing.T) {
	const id = "bittar2023/table-3"
	printed := asPrinted(t, id, func(f map[string]any) map[string]float64 { // over bridges as over the forwarder
		return map[string]float64{"latency_mean_ns": map[float64]float64{2: 0.529e6, 3: 4.872e6, 6: 8.402e6}[level(f, "length")]}
	})
	paper{id: id, cores: 4, truth: printed, scatter: func(f map[string]any) float64 { return level(f, "length") }}.expect(t, map[string]string{
		"table-3": holds, "table-3:bridge": holds, "table-3:eightfold": holds, "table-3:double": holds, "table-3-spread": holds,
	})
	paper{id: id, cores: 4, truth: func(f map[string]any) map[string]float64 { // longer is faster, and steadier
		return map[string]float64{"latency_mean_ns": 1e6 / level(f, "length")}
	}, scatter: func(f map[string]any) float64 { return 100 / level(f, "length") / level(f, "length") }}.expect(t, map[string]string{
		"table-3": fails, "table-3:bridge": fails, "table-3:eightfold": fails, "table-3:double": fails, "table-3-spread": fails,
	})
}
