package held

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
)

// TestNamesAreAskedOnce, not for ever where there are many, and again where nobody could tell.
func TestNamesAreAskedOnce(t *testing.T) {
	n := names{of: map[ebpf.MapID]string{}}
	asked := 0
	for range 3 {
		for id := range ebpf.MapID(100) {
			name, err := n.name(id, func() (string, error) { asked++; return fmt.Sprint(id), nil })
			if name != fmt.Sprint(id) || err != nil {
				t.Errorf("map %d is called %q, error %v", id, name, err)
			}
		}
	}
	if asked != 100 {
		t.Errorf("100 names were asked for %d times", asked)
	}
	gone := errors.New("gone")
	for range 2 {
		if _, err := n.name(100, func() (string, error) { asked++; return "", gone }); !errors.Is(err, gone) {
			t.Errorf("a map that has gone: error %v", err)
		}
	}
	if asked != 102 {
		t.Errorf("a map that could not be asked was asked %d times, want 2", asked-100)
	}
	for id := range ebpf.MapID(4 * mostNames) {
		if _, err := n.name(id, func() (string, error) { return fmt.Sprint(id), nil }); err != nil || len(n.of) > mostNames {
			t.Fatalf("%d names are known, error %v", len(n.of), err)
		}
	}
}
