package observe

import (
	"os"
	"testing"
)

// TestOthersThatEnded in between are in what those that waited for them have of their
// children.
func TestOthersThatEnded(t *testing.T) {
	id := func(pid int) identity { return identity{pid, 5} }
	self := os.Getpid()
	for name, c := range map[string]struct {
		before, after map[identity]program
		own           map[int]bool
		want          float64
	}{
		"began and ended": {
			map[identity]program{id(1): {command: "make", parent: 0, ticks: 5, waited: 50}},
			map[identity]program{id(1): {command: "make", parent: 0, ticks: 6, waited: 80}}, nil, .31},
		"was there before": {
			map[identity]program{id(1): {command: "make", waited: 50}, id(2): {command: "cc1", parent: 1, ticks: 20, waited: 1}},
			map[identity]program{id(1): {command: "make", waited: 80}}, nil, .09},
		"with its parent": {
			map[identity]program{id(1): {command: "sh", waited: 50}, id(2): {command: "make", parent: 1, ticks: 2}, id(3): {command: "cc1", parent: 2, ticks: 20}},
			map[identity]program{id(1): {command: "sh", waited: 80}}, nil, .08},
		"waited for by one that is new": {
			map[identity]program{}, map[identity]program{id(1): {command: "make", ticks: 1, waited: 30}}, nil, .31},
		"never waited for": {
			map[identity]program{id(1): {command: "sh", waited: 50}, id(2): {command: "cc1", parent: 1, ticks: 20}},
			map[identity]program{id(1): {command: "sh", waited: 50}}, nil, 0},
		"this process's": {
			map[identity]program{id(self): {command: "nfchain", waited: 50}},
			map[identity]program{id(self): {command: "nfchain", waited: 80}}, nil, 0},
		"perhaps the chain's": {
			map[identity]program{id(1): {command: "shim", ticks: 1, waited: 50}, id(2): {command: "nginx", parent: 1, ticks: 7}},
			map[identity]program{id(1): {command: "shim", ticks: 2, waited: 80}}, map[int]bool{2: true}, .01},
		"a child that lives is counted once": {
			map[identity]program{id(1): {command: "make", waited: 50}, id(2): {command: "cc1", parent: 1, ticks: 20}},
			map[identity]program{id(1): {command: "make", waited: 50}, id(2): {command: "cc1", parent: 1, ticks: 30}}, nil, .1},
	} {
		got, largest := othersSince(c.before, c.after, c.own, 100)
		if got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s: %v, want %v (%+v)", name, got, c.want, largest)
		}
	}
}

// TestSurvivorOfALoop: numbers that were given away while they were read end the search.
func TestSurvivorOfALoop(t *testing.T) {
	before := map[identity]program{{1, 1}: {parent: 2, ticks: 3}, {2, 1}: {parent: 1, ticks: 3}}
	if got := earlierOfEnded(before, map[identity]program{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestWaitedIsRead, that of both the children and the kernel for them.
func TestWaitedIsRead(t *testing.T) {
	p, ok := parseProcess("7 (make) S 1 1 1 0 -1 0 0 0 0 0 3 4 50 60 20 0 1 0 5 0 0")
	if !ok || p.waited != 110 || p.user+p.system != 7 {
		t.Errorf("%+v, %v", p, ok)
	}
}
