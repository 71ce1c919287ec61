package supervise_test

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// BenchmarkAtRest is how much of a core who watches over 100 chains takes while no packet flows:
// five functions each, in namespaces, with probes through all of them.
func BenchmarkAtRest(b *testing.B) {
	const chains, calm = 100, 15 * time.Second
	var functions []string
	for i := range 5 {
		functions = append(functions, fmt.Sprintf("{name: f%d, kind: forward, onFailure: bypass}", i))
	}
	var supervisors []int
	for range chains {
		p := newPath(b, spec(functions...))
		supervisors = append(supervisors, supervisorOf(p.owner))
	}
	time.Sleep(calm) // until probes are as rare as they become
	for b.Loop() {
		before, began := worked(b, supervisors), time.Now()
		time.Sleep(30 * time.Second)
		b.ReportMetric(100*(worked(b, supervisors)-before).Seconds()/time.Since(began).Seconds(), "%core")
	}
}

// worked is how long processes were on a core, by the scheduler's own clock.
func worked(tb testing.TB, pids []int) (all time.Duration) {
	tb.Helper()
	for _, pid := range pids {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			tb.Fatal(err)
		}
		for _, task := range tasks {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, task.Name()))
			if err != nil {
				continue // a thread that ended
			}
			var ran int64
			if _, err := fmt.Sscan(string(text), &ran); err != nil {
				tb.Fatal(err)
			}
			all += time.Duration(ran)
		}
	}
	return all
}
