package house

import (
	"regexp"
	"strings"
	"testing"
)

// rooms is the order of imports, which ARCHITECTURE.md shows as it stands here:
// a room may import those on the lines below its own, and its own packages.
// Rooms on one line do not know of each other.
const rooms = `
cmd
registry
plugin
run
advise
report
results
experiment
search
traffic, observe, supervise, trace, capture, profile
deploy
plan
wiring, function
impair
resource
feature
engine
netns
api
trial, model
stats, words, published, bpf, images
`

// siblings are rooms in which each package is one way of doing the same: it may
// import the room's own package, and none of the others.
var siblings = []string{"wiring", "function", "traffic"}

// levels gives each room the number of its line.
func levels() map[string]int {
	at := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(rooms), "\n") {
		for _, room := range strings.Split(line, ", ") {
			at[room] = i
		}
	}
	return at
}

// roomOf a package, by its path from the root.
func roomOf(dir string) string {
	room, _, _ := strings.Cut(strings.TrimPrefix(dir, "internal/"), "/")
	return room
}

// isForTests tells whether a package is one that only tests import: this one, and
// those whose names say so.
func isForTests(dir string) bool { return dir == "internal/house" || strings.HasSuffix(dir, "test") }

// inside gives the path from the root of an import that is of this module.
func inside(path string) (dir string, ours bool) { return strings.CutPrefix(path, module+"/") }

func TestImportsGoDownwards(t *testing.T) {
	level := levels()
	for _, s := range allSources(t) {
		if s.test || isForTests(s.dir) {
			continue
		}
		from := roomOf(s.dir)
		if _, known := level[from]; !known {
			t.Errorf("%s is in room %q, which the list of rooms lacks", s.name, from)
			continue
		}
		for _, path := range s.imports() {
			dir, ours := inside(path)
			switch to := roomOf(dir); {
			case !ours || to == from && !areSiblings(from, s.dir, dir):
			case isForTests(dir):
				t.Errorf("%s imports %s, which is for tests alone", s.name, dir)
			case to == from:
				t.Errorf("%s imports %s: packages of room %s do not know of each other", s.name, dir, from)
			case level[to] <= level[from]:
				t.Errorf("%s imports %s: imports go downwards, and %s is not below %s", s.name, dir, to, from)
			}
		}
	}
}

// areSiblings tells whether two packages of a room are two ways of the same.
func areSiblings(room, from, to string) bool {
	for _, r := range siblings {
		if r == room {
			parent := "internal/" + room
			return from != to && to != parent
		}
	}
	return false
}

func TestEveryRoomIsThere(t *testing.T) {
	there := map[string]bool{}
	for _, s := range allSources(t) {
		there[roomOf(s.dir)] = true
	}
	for room := range levels() {
		if !there[room] {
			t.Errorf("the list of rooms has %s, which is not there", room)
		}
	}
}

func TestArchitectureShowsTheRooms(t *testing.T) {
	if !strings.Contains(read(t, "ARCHITECTURE.md"), "```\n"+strings.TrimSpace(rooms)+"\n```") {
		t.Errorf("ARCHITECTURE.md does not show the rooms as this test has them:\n%s", rooms)
	}
}

// dependency is a line of go.mod about a module that the code itself imports.
var dependency = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

func TestArchitectureTellsOfEveryDependency(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	found := dependency.FindAllStringSubmatch(read(t, "go.mod"), -1)
	if len(found) < 10 {
		t.Fatalf("found %d dependencies: the test does not read go.mod", len(found))
	}
	for _, m := range found {
		if !strings.Contains(text, "`"+m[1]+"`") {
			t.Errorf("go.mod needs %s, and ARCHITECTURE.md does not say why", m[1])
		}
	}
}
