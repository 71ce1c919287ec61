package observe

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

func TestGrown(t *testing.T) {
	cases := []struct{ before, after, want uint64 }{
		{5, 5, 0},
		{5, 12, 7},
		{1<<32 - 10, 20, 30},              // wrapped at 32 bits
		{1 << 31, 20, 20},                 // reset: too far from the edge
		{1<<32 - 10, 1 << 31, 1 << 31},    // reset: too much for one trial
		{1 << 40, 3, 3},                   // reset of a 64-bit counter
		{0, 1<<64 - 1, 1<<64 - 1},         // no overflow
		{1<<32 - 1, 0, 1},                 // the edge itself
		{1<<32 + 5, 1<<32 + 6, 1},         // beyond it
		{3 << 30, 1<<30 - 1, 1<<31 - 1},   // the widest wrap that is believed
		{3<<30 - 1, 1<<30 - 1, 1<<30 - 1}, // the narrowest reset
	}
	for _, c := range cases {
		if got := grown(c.before, c.after); got != c.want {
			t.Errorf("grown(%d, %d) = %d, want %d", c.before, c.after, got, c.want)
		}
	}
}

func TestCoreUse(t *testing.T) {
	before := map[int]coreTimes{0: {user: 100, idle: 1000}, 1: {idle: 50}, 3: {user: 1}}
	after := map[int]coreTimes{
		0: {user: 150, system: 25, softirq: 15, steal: 10, idle: 999}, // idle stepped back
		1: {idle: 50},                                                 // no time passed
		2: {user: 10},                                                 // came online
	}
	got := coreUse(before, after)
	want := []trial.CPUUse{{CPU: 0, User: 0.5, System: 0.25, Softirq: 0.15, Steal: 0.1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDiskUse(t *testing.T) {
	before := map[string]diskSectors{"vda": {100, 1<<32 - 1}, "gone": {7, 7}}
	after := map[string]diskSectors{"vda": {110, 1}, "new": {5, 0}}
	read, written := diskUse(before, after)
	if *read != 15*512 || *written != 2*512 {
		t.Errorf("got %d and %d bytes", *read, *written)
	}
	if read, written := diskUse(before, nil); read != nil || written != nil {
		t.Error("without disks something is told")
	}
}

func TestOnlyWholeDisksCount(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/diskstats":          diskText,
		"sys/block/vda/device/id": "",
		"sys/block/vda/vda1/size": "",
		"sys/block/loop0/size":    "",
	})
	want := map[string]diskSectors{"vda": {2323922, 4281376}}
	if got := readDisks(root); !maps.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestInterfaceUse(t *testing.T) {
	before := []trial.InterfaceCounts{
		{Node: "fw", Interface: "eth0", RxPackets: 10, RxBytes: 1000, TxDropped: 1},
		{Node: "gone", Interface: "eth0", RxPackets: 10},
	}
	after := []trial.InterfaceCounts{
		{Node: "fw", Interface: "eth0", RxPackets: 15, RxBytes: 1700, TxDropped: 1, RxErrors: 2},
		{Node: "client", Interface: "eth0", RxPackets: 3},
	}
	want := []trial.InterfaceCounts{
		{Node: "fw", Interface: "eth0", RxPackets: 5, RxBytes: 700, RxErrors: 2},
		{Node: "client", Interface: "eth0", RxPackets: 3},
	}
	if got := interfaceUse(before, after); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Every counter of an interface is subtracted; one forgotten would be zero here.
func TestEveryInterfaceCounterIsSubtracted(t *testing.T) {
	one := trial.InterfaceCounts{Node: "n", Interface: "i", RxPackets: 1, TxPackets: 2, RxBytes: 3, TxBytes: 4, RxDropped: 5, TxDropped: 6, RxErrors: 7, TxErrors: 8}
	if got := interfaceUse(nil, []trial.InterfaceCounts{one}); got[0] != one {
		t.Errorf("got %+v", got[0])
	}
}

func TestMemoryUsed(t *testing.T) {
	root := tree(t, map[string]string{"proc/meminfo": "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\n"})
	if got := memoryUsed(root); got == nil || *got != 600*1024 {
		t.Errorf("got %v", got)
	}
	if got := memoryUsed(tree(t, map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n"})); got != nil {
		t.Errorf("got %d, want none", *got)
	}
}

func TestLookingTakesAHundredthOfACore(t *testing.T) {
	if got := pause(time.Second, time.Millisecond); got != time.Second {
		t.Errorf("a short look: %v", got)
	}
	if got := pause(time.Second, 40*time.Millisecond); got != 4*time.Second {
		t.Errorf("a long look: %v", got)
	}
}

func TestSensors(t *testing.T) {
	var s sensors
	if s.frequencies() != nil || s.celsius != nil {
		t.Error("without a reading something is told")
	}
	s.addFrequencies(nil)
	s.addFrequencies([]float64{1e9, 2e9})
	s.addFrequencies([]float64{1e9}) // a core went offline
	s.addFrequencies([]float64{3e9, 4e9})
	if got := s.frequencies(); !slices.Equal(got, []float64{2e9, 3e9}) {
		t.Errorf("got %v", got)
	}
	s.addTemperatures(map[string]float64{"a": -5, "b": 50})
	s.addTemperatures(map[string]float64{"a": -7, "b": 60})
	if !maps.Equal(s.celsius, map[string]float64{"a": -5, "b": 60}) {
		t.Errorf("got %v", s.celsius)
	}
}

// tree writes files under a fresh root.
func tree(t *testing.T, files map[string]string) procfs.Root {
	t.Helper()
	root := procfs.Root(t.TempDir())
	for name, content := range files {
		write(t, root, name, content)
	}
	return root
}

func write(t *testing.T, root procfs.Root, name, content string) {
	t.Helper()
	path := root.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
