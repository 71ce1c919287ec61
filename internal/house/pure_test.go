package house

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// pure rooms compute: what comes out follows from what goes in.
var pure = []string{"registry", "advise", "report", "experiment", "search", "plan", "wiring", "function", "api", "trial", "model", "stats", "published", "images"}

// pureToo are packages of other rooms.
var pureToo = []string{"internal/resource/pass/rules"}

// acts are packages by which a program acts or looks at its machine.
var acts = []string{
	"os", "os/exec", "os/signal", "syscall", "unsafe", "net/http", "math/rand", "crypto/rand",
	"golang.org/x/sys/unix", "github.com/vishvananda/netlink", "github.com/vishvananda/netns",
	module + "/internal/netns",
}

// clocks and lookups are functions of otherwise harmless packages.
var clocks = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"net":  {"Dial", "DialTimeout", "Listen", "ListenPacket", "Interfaces", "InterfaceByName", "InterfaceAddrs", "LookupHost", "LookupIP", "LookupAddr"},
}

func TestPureRoomsNeitherActNorLook(t *testing.T) {
	for _, s := range allSources(t) {
		if s.test || !slices.Contains(pure, roomOf(s.dir)) && !slices.Contains(pureToo, s.dir) {
			continue
		}
		for _, path := range s.imports() {
			if slices.Contains(acts, path) {
				t.Errorf("%s imports %s, and %s is pure", s.name, path, s.dir)
			}
		}
		for name, functions := range clocks {
			for call := range selections(s.File, name) {
				if slices.Contains(functions, call.Sel.Name) {
					t.Errorf("%s: %s.%s in %s, which is pure", at(call), name, call.Sel.Name, s.dir)
				}
			}
		}
	}
}

// enters are the places beside package netns that change or make a network
// namespace, each with its reason.
var enters = map[string]string{
	"internal/feature/scratch.go": "probes the kernel in a namespace that has no name and dies with its thread",
	"internal/feature/userns.go":  "asks whether this user may make a user namespace, by starting a process in one",
}

func TestOnePlaceEntersNamespaces(t *testing.T) {
	used := map[string]bool{}
	for _, s := range allSources(t) {
		if s.test || s.dir == "internal/netns" || isForTests(s.dir) {
			continue
		}
		found := append(names(s.File, "unix"), names(s.File, "syscall")...)
		found = append(found, s.imports()...)
		for _, name := range found {
			if name != "Setns" && name != "Unshare" && name != "CLONE_NEWNET" && name != "github.com/vishvananda/netns" {
				continue
			}
			if used[s.name] = true; enters[s.name] == "" {
				t.Errorf("%s uses %s; only internal/netns enters namespaces", s.name, name)
			}
		}
	}
	for name := range enters {
		if !used[name] {
			t.Errorf("%s is excepted and need not be", name)
		}
	}
}

// names selected from a package in a file.
func names(f *ast.File, from string) []string {
	var list []string
	for s := range selections(f, from) {
		list = append(list, s.Sel.Name)
	}
	return list
}

// selections of a package's names in a file.
func selections(f *ast.File, from string) map[*ast.SelectorExpr]bool {
	found := map[*ast.SelectorExpr]bool{}
	if !slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		path := strings.Trim(i.Path.Value, `"`)
		return path == from || strings.HasSuffix(path, "/"+from)
	}) {
		return found
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == from {
				found[s] = true
			}
		}
		return true
	})
	return found
}
