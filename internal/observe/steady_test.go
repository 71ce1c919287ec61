package observe

import (
	"fmt"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// TestSteady finds cores that come and go, and a clock that is set, also where both are at the
// end as they were at the start.
func TestSteady(t *testing.T) {
	by := 20 * time.Hour
	cores := func(list string) procfs.Root {
		return tree(t, map[string]string{"sys/devices/system/cpu/online": list})
	}
	s := newSteady(cores("0-2\n"), func() time.Duration { return by })
	by += 900 * time.Microsecond // a reading that was interrupted
	s.look(cores("0-2\n"))
	if s.clockSet() != nil || s.lost != nil || s.came != nil {
		t.Errorf("nothing changed: %+v", s)
	}
	by -= time.Hour
	s.look(cores("0,2\n"))
	by += time.Hour
	s.look(cores("0-3\n"))
	s.look(cores("0,2\n"))
	if got := s.clockSet(); got == nil || *got < -3600 || *got > -3599 || fmt.Sprint(s.lost, s.came) != "[1] [3]" {
		t.Errorf("cores %v went and %v came, the clock was set by %v", s.lost, s.came, s.set)
	}
	s = newSteady(tree(t, nil), func() time.Duration { return 0 })
	s.look(cores("0\n"))
	if s.lost != nil || s.came != nil {
		t.Errorf("a machine that does not tell of cores has others: %+v", s)
	}
}
