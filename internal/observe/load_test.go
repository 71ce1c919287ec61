package observe

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// fake is a tree of files that can be written again.
func fake(t *testing.T) (procfs.Root, func(name, content string)) {
	t.Helper()
	dir := t.TempDir()
	return procfs.Root(dir), func(name, content string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// stat of a process: id, name, parent, flags, ticks used, start.
func stat(pid int, name string, parent, flags, ticks, started int) string {
	return fmt.Sprintf("%d (%s) S %d 1 1 0 -1 %d 0 0 0 0 %d 0 0 0 20 0 1 0 %d 0 0", pid, name, parent, flags, ticks, started)
}

func TestLoadSince(t *testing.T) {
	root, write := fake(t)
	self := os.Getpid()
	process := func(pid int, name string, parent, flags, ticks int) {
		write(fmt.Sprintf("proc/%d/stat", pid), stat(pid, name, parent, flags, ticks, 5))
	}
	write("proc/stat", "cpu0 100 0 100 800 0 0 0 0\ncpu1 100 0 100 800 0 0 0 0\n")
	write("proc/loadavg", "0.50 1.25 2.00 1/99 1234\n")
	write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	process(2000001, "backup", 1, 0, 100)
	process(2000002, "ksoftirqd/0", 2, kernelThread, 100)
	process(2000003, "iperf3", 1, 0, 100)
	process(2000004, "mine", self, 0, 100)
	before := readBusyness(root)

	write("proc/stat", "cpu0 150 0 120 820 0 0 0 10\ncpu1 130 0 120 840 0 0 0 10\n") // 200 ticks, 60 idle, 20 stolen
	write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=51000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	process(2000001, "backup", 1, 0, 130)
	process(2000002, "ksoftirqd/0", 2, kernelThread, 150)
	process(2000003, "iperf3", 1, 0, 180)
	process(2000004, "mine", self, 0, 110)
	process(2000005, "backup", 1, 0, 10) // new
	process(2000006, "child", 2000004, 0, 10)
	process(2000007, "cron", 1, 0, 2)
	before.at = time.Now().Add(-100 * time.Second) // long beside any stall of this machine
	l := loadSince(root, before, map[int]bool{2000003: true})
	if l == nil || l.Busy == nil || l.Steal == nil || l.Others == nil || l.Average == nil {
		t.Fatalf("%+v", l)
	}
	for name, v := range map[string][2]float64{"busy": {*l.Busy, .7}, "steal": {*l.Steal, .1}, "others": {*l.Others, .21}} {
		if v[0] < v[1]-1e-9 || v[0] > v[1]+1e-9 {
			t.Errorf("%s is %v, want %v", name, v[0], v[1])
		}
	}
	if want := []trial.OtherUse{{Command: "backup", Ratio: .2}, {Command: "cron", Ratio: .01}}; !slices.Equal(l.Largest, want) {
		t.Errorf("largest %+v, want %+v", l.Largest, want)
	}
	if *l.Average != [3]float64{.5, 1.25, 2} {
		t.Errorf("load average %v", *l.Average)
	}
	cpu := l.Pressure["cpu"]
	if cpu.Some == nil || cpu.Full == nil || *cpu.Some < .4 || *cpu.Some > .5 || *cpu.Full != 0 {
		t.Errorf("pressure %+v", l.Pressure)
	}
	if _, known := l.Pressure["memory"]; known {
		t.Error("pressure of what the kernel does not tell of")
	}
}

// TestLoadOfNothing: what cannot be told is absent.
func TestLoadOfNothing(t *testing.T) {
	root, write := fake(t)
	if l := loadSince(root, readBusyness(root), nil); l != nil {
		t.Errorf("%+v", l)
	}
	write("proc/loadavg", "1 2 3\n")
	if l := loadSince(root, readBusyness(root), nil); l == nil || l.Busy != nil || l.Steal != nil || l.Others != nil || l.Pressure != nil {
		t.Errorf("%+v", l)
	}
}

func TestLoadOfThisMachine(t *testing.T) {
	l := Load(t.Context(), "", 50*time.Millisecond)
	if l == nil || l.Average == nil || l.Busy == nil || l.Others == nil || *l.Busy < 0 || *l.Busy > 1 || *l.Others > 1 {
		t.Fatalf("%+v", l)
	}
}

func TestParseLoadAverage(t *testing.T) {
	for _, s := range []string{"", "1 2", "1 x 3", "-1 2 3", "NaN 1 2"} {
		if got := parseLoadAverage(s); got != nil {
			t.Errorf("%q gives %v", s, *got)
		}
	}
}

func TestParsePressure(t *testing.T) {
	p := parsePressure("some avg10=0.00 avg60=0.75 avg300=2.69 total=1582172\nrubbish\nfull total=x\n")
	if p.some == nil || *p.some != 1582172*time.Microsecond || p.full != nil {
		t.Errorf("%+v", p)
	}
}

func TestDescendants(t *testing.T) {
	all := map[identity]program{{pid: 1}: {}, {pid: 2}: {parent: 1}, {pid: 3}: {parent: 2}, {pid: 4}: {parent: 3}, {pid: 5}: {parent: 1}}
	if got, want := descendants(all, 2), map[int]bool{2: true, 3: true, 4: true}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("0.50 1.25 2.00 1/99 1234", "some avg10=0.00 total=1")
	f.Fuzz(func(t *testing.T, average, pressure string) {
		if a := parseLoadAverage(average); a != nil && (a[0] < 0 || a[1] < 0 || a[2] < 0) {
			t.Errorf("%q gives %v", average, *a)
		}
		parsePressure(pressure)
	})
}
