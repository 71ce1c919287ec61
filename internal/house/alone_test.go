package house

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNothingRaces in packages that scripts/test tests without the race detector, nor in their tests: they start no goroutine.
func TestNothingRaces(t *testing.T) {
	found := regexp.MustCompile(`(?m)^alone="(.*)"$`).FindStringSubmatch(read(t, "scripts/test"))
	if found == nil {
		t.Fatal("scripts/test names no such packages")
	}
	var alone []string
	for _, dir := range strings.Fields(found[1]) {
		alone = append(alone, strings.TrimPrefix(dir, "./"))
	}
	seen := map[string]bool{}
	for _, s := range allSources(t) {
		if !slices.Contains(alone, s.dir) {
			continue
		}
		seen[s.dir] = true
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a goroutine is started; test %s with the race detector (scripts/test)", at(n), s.dir)
			case *ast.SelectorExpr:
				if n.Sel.Name == "Parallel" {
					t.Errorf("%s: tests run beside each other; test %s with the race detector (scripts/test)", at(n), s.dir)
				}
			}
			return true
		})
	}
	for _, dir := range alone {
		if !seen[dir] {
			t.Errorf("scripts/test names %s, which is not there", dir)
		}
	}
}
