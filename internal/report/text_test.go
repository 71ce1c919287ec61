package report

import (
	"strings"
	"testing"
)

// TestLongCellsAreFolded so that what follows them stays within sight; the last column
// is as it was given.
func TestLongCellsAreFolded(t *testing.T) {
	tab := table{}
	tab.column("which", false)
	tab.column("why", false)
	long := strings.Repeat("length=2 wiring=ovs; ", 10) + "end"
	tab.add(true, long, long)
	tab.add(true, "  indented", "short")
	var b strings.Builder
	aligned(&b, tab)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) < 5 || !strings.HasSuffix(lines[1], long) || lines[len(lines)-1] != "  indented"+strings.Repeat(" ", strings.Index(lines[0], "WHY")-10)+"short" {
		t.Fatalf("%q", lines)
	}
	first := strings.TrimSuffix(lines[1], long)
	for _, line := range lines[2 : len(lines)-1] {
		first += " " + line
	}
	if got := strings.Join(strings.Fields(first), " "); got != long {
		t.Errorf("folded into %q", got)
	}
	if at := strings.Index(lines[0], "WHY"); at > foldedAt+2 {
		t.Errorf("the second column begins at %d", at)
	}
}
