package observe

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Captured on a two-core virtual machine, Linux 6.18.
const statText = `cpu  7614 0 3264 254970 361 0 64 15 0 0
cpu0 3432 10 1457 128188 26 3 17 4 5 6
cpu1 4181 0 1807 126782 335 0 46 10 0 0
intr 356680 0 0
ctxt 1
softirq 100 1 2
`

func TestParseStat(t *testing.T) {
	want := map[int]coreTimes{
		0: {user: 3442, system: 1457, idle: 128214, softirq: 20, steal: 4},
		1: {user: 4181, system: 1807, idle: 127117, softirq: 46, steal: 10},
	}
	if got := parseStat(statText); !maps.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, s := range []string{"", "cpu0", "cpu0 1 2 3 4\n", "cpux 1 2 3 4 5 6 7 8\n", "cpu0 1 2 3 -4 5 6 7 8\n"} {
		if got := parseStat(s); len(got) != 0 {
			t.Errorf("parseStat(%q) = %+v", s, got)
		}
	}
}

const diskText = `   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 54137 7738 2323922 8813 10074 50724 4281376 7237 0 5644 16261 3781 74 172632 185 666 24
 254       1 vda1 54037 7738 2323900 8813 10074 50724 4281376 7237 0 5644 16261
   8       0 broken 1 2 x 4 5 6 7 8 9 10 11
   3       1 hda1 35486 38030 38030 38030
`

func TestParseDiskstats(t *testing.T) {
	want := map[string]diskSectors{"loop0": {}, "vda": {2323922, 4281376}, "vda1": {2323900, 4281376}}
	if got := parseDiskstats(diskText); !maps.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A process may name itself as it likes.
const awkward = "1234 (a) R 1 (b) S 1 1234 1234 0 -1 4194560 99 0 0 0 250 50 7 8 20 0 1 0 777 1000 200 18446744073709551615"

func TestParseProcess(t *testing.T) {
	got, ok := parseProcess(awkward)
	want := processTimes{command: "a) R 1 (b", user: 250, system: 50, waited: 15, started: 777, parent: 1, flags: 4194560}
	if !ok || got != want {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}
	for _, s := range []string{"", "1 (a", "1 )(", "1 (a) S 1 2 3", strings.Replace(awkward, "250", "-250", 1)} {
		if p, ok := parseProcess(s); ok {
			t.Errorf("parseProcess(%q) = %+v", s, p)
		}
	}
}

// TestProcesses: those that are gone are left out.
func TestProcesses(t *testing.T) {
	root := tree(t, map[string]string{"proc/1234/stat": awkward, "proc/uptime": "27.77 11.00\n"})
	want := []Process{{PID: 1234, Command: "a) R 1 (b", CPU: 3 * time.Second, Age: 20 * time.Second}}
	if got := Processes(root, []int{1, 1234}); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestOwnName: what executed itself is called as its program, whatever has become of that since.
func TestOwnName(t *testing.T) {
	root := tree(t, map[string]string{"proc/7/stat": strings.Replace(awkward, "a) R 1 (b", "exe", 1), "proc/8/stat": strings.Replace(awkward, "a) R 1 (b", "exe", 1), "proc/uptime": "27.77 11.00\n"})
	if err := os.Symlink("/usr/bin/nfchain (deleted)", root.Path("proc/7/exe")); err != nil {
		t.Fatal(err)
	}
	got := Processes(root, []int{7, 8})
	if len(got) != 2 || got[0].Command != "nfchain" || got[1].Command != "exe" {
		t.Errorf("%+v", got)
	}
}

func TestParseMemory(t *testing.T) {
	if got := parseMemory("Name:\tiperf3\nVmPeak:\t  9000 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 1000 kB\n", "VmHWM"); got == nil || *got != 1234*1024 {
		t.Errorf("got %v", got)
	}
	if got := parseMemory("Name:\tkthreadd\n", "VmHWM"); got != nil {
		t.Errorf("got %v, want none", *got)
	}
}

func FuzzParsers(f *testing.F) {
	f.Add(statText)
	f.Add(diskText)
	f.Add(awkward)
	f.Fuzz(func(t *testing.T, s string) {
		cores := parseStat(s)
		for _, use := range coreUse(map[int]coreTimes{0: {}, 1: {}}, cores) {
			sum := use.User + use.System + use.Softirq + use.Idle + use.Steal
			if !(sum > 0.999 && sum < 1.001) {
				t.Errorf("the shares of %+v add up to %v", use, sum)
			}
		}
		for name := range parseDiskstats(s) {
			if name == "" || strings.Contains(name, "..") {
				t.Errorf("disk %q", name)
			}
		}
		parseProcess(s)
		parseMemory(s, "VmHWM")
	})
}
