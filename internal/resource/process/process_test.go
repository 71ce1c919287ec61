package process

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
)

func example() Spec {
	return Spec{Node: "proxy", Netns: "nfchain.edge.proxy", Args: []string{"proxy", "--port", "80"}, Env: []string{"A=1"}, Dir: "/srv",
		Restart: "always", Ready: Ready{TCPPort: 80, TimeoutS: 5}, CPUs: "0-1", MemoryBytes: 1 << 30}
}

// TestFingerprint: whatever of a program is edited, it is another program.
func TestFingerprint(t *testing.T) {
	seen := map[string]string{example().Fingerprint(): "nothing"}
	for what, edit := range map[string]func(*Spec){
		"args":    func(s *Spec) { s.Args = s.Args[:2] },
		"env":     func(s *Spec) { s.Env = nil },
		"dir":     func(s *Spec) { s.Dir = "" },
		"restart": func(s *Spec) { s.Restart = "never" },
		"port":    func(s *Spec) { s.Ready.TCPPort = 81 },
		"command": func(s *Spec) { s.Ready.Command = []string{"true"} },
		"timeout": func(s *Spec) { s.Ready.TimeoutS = 6 },
		"period":  func(s *Spec) { s.Ready.PeriodS, s.Ready.Failures = 1, 3 },
		"no's":    func(s *Spec) { s.Ready.PeriodS, s.Ready.Failures = 10, 1 },
		"cpus":    func(s *Spec) { s.CPUs = "0" },
		"nodes":   func(s *Spec) { s.MemoryNodes = []int{1} },
		"memory":  func(s *Spec) { s.MemoryBytes = 0 },
		"of":      func(s *Spec) { s.Of = "proxies" },
		"after":   func(s *Spec) { s.After = []string{"store"} },
		"scratch": func(s *Spec) { s.Scratch = []string{"/srv"} },
		"files":   func(s *Spec) { s.Files = map[string]string{"/srv/a": "text"} },
	} {
		s := example()
		edit(&s)
		if other, twice := seen[s.Fingerprint()]; twice {
			t.Errorf("editing %s gives the fingerprint of editing %s", what, other)
		}
		seen[s.Fingerprint()] = what
	}
	usual := example()
	usual.Ready.PeriodS, usual.Ready.Failures = UsualPeriodS, UsualFailures
	if usual.Fingerprint() != example().Fingerprint() {
		t.Error("one whose ready command is asked as usual is not the one from before there was such")
	}
	var sent Spec
	text, err := json.Marshal(example())
	if err != nil || json.Unmarshal(text, &sent) != nil || sent.Fingerprint() != example().Fingerprint() {
		t.Errorf("sent to the supervisor it is another: %+v, error %v", sent, err)
	}
}

func TestMark(t *testing.T) {
	s := example()
	environment := "PATH=/bin\x00" + Mark("edge", s) + "\x00HOME=/\x00"
	if f, ok := marked(strings.Split(environment, "\x00"), "edge"); !ok || f.Node != "proxy" || f.Fingerprint != s.Fingerprint() {
		t.Errorf("%+v, %v", f, ok)
	}
	for _, other := range []string{"", "PATH=/bin", Mark("edge2", s), "X" + Mark("edge", s), mark + "=edge", mark + "=edge/a/b/c"} {
		if f, ok := marked([]string{other}, "edge"); ok {
			t.Errorf("%q: %+v", other, f)
		}
	}
}

// TestAsking: a ready command is known as its node's, and is no program.
func TestAsking(t *testing.T) {
	if f, ok := marked([]string{Asking("edge", "proxy")}, "edge"); !ok || f.Node != "proxy" || !f.Asks || f.Fingerprint == example().Fingerprint() {
		t.Errorf("%+v, %v", f, ok)
	}
	if f, ok := marked([]string{Mark("edge", example())}, "edge"); !ok || f.Asks {
		t.Errorf("a program: %+v, %v", f, ok)
	}
	both := []string{Asking("edge", "proxy"), Mark("edge", example())}
	for range 2 {
		if f, ok := marked(both, "edge"); !ok || !f.Asks {
			t.Errorf("one that sees what the program does, %q: %+v, %v", both, f, ok)
		}
		slices.Reverse(both)
	}
	if f, ok := marked([]string{Asking("edge2", "proxy")}, "edge"); ok {
		t.Errorf("another's: %+v", f)
	}
}

// TestTakesOver: a program goes on of which one is found, or which runs in a container of which nothing but a ready command is found.
func TestTakesOver(t *testing.T) {
	s := example()
	contained := s
	contained.Container = &Container{Engine: "docker", Name: "c", Digest: "d"}
	for what, c := range map[string]struct {
		change resource.Change
		want   bool
	}{
		"the same":                {resource.Change{Op: resource.Update, Was: unsupervised + " " + s.Fingerprint(), Spec: s}, true},
		"one as it was":           {resource.Change{Op: resource.Update, Was: unsupervised + " other", Spec: s}, false},
		"its ready command":       {resource.Change{Op: resource.Update, Was: unsupervised, Spec: s}, false},
		"that of a container":     {resource.Change{Op: resource.Update, Was: unsupervised, Spec: contained}, true},
		"a container, supervised": {resource.Change{Op: resource.Update, Was: "other", Spec: contained}, false},
		"a container that is new": {resource.Change{Op: resource.Create, Spec: contained}, false},
		"one that is taken out":   {resource.Change{Op: resource.Delete, Was: unsupervised + " " + s.Fingerprint()}, false},
	} {
		if TakesOver(c.change) != c.want {
			t.Errorf("%s: not %v", what, c.want)
		}
	}
}

func TestAddress(t *testing.T) {
	if longest := Address(strings.Repeat("x", 63)); len(longest) > 107 {
		t.Errorf("%d bytes do not fit an address (unix(7))", len(longest))
	}
}

// TestMemoryFile: it is read while it is open elsewhere.
func TestMemoryFile(t *testing.T) {
	f, err := memoryFile("test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	path := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if err := os.WriteFile(path, []byte("said"), 0); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "said" {
		t.Errorf("%q, error %v", text, err)
	}
}

// TestBefore: the older of two processes, though its number may be the larger one.
func TestBefore(t *testing.T) {
	self := Found{PID: os.Getpid(), Began: began(os.Getpid())}
	if first := (Found{PID: 1, Began: began(1)}); self.Began == 0 || !first.Before(self) || self.Before(first) || began(1<<30) != 0 {
		t.Errorf("this process began at %d, and %+v", self.Began, first)
	}
	for _, c := range [][2]Found{{{PID: 32721, Began: 7}, {PID: 322, Began: 8}}, {{PID: 3, Began: 7}, {PID: 4, Began: 7}}} {
		if !c[0].Before(c[1]) || c[1].Before(c[0]) {
			t.Errorf("%+v is the older one", c[0])
		}
	}
}
