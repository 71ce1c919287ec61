package pass

import "testing"

func TestLessens(t *testing.T) {
	one, two, fair := NewCount(1), NewDSCP(2, 46), NewLimit(3, Bucket{Rate: 1e9, Burst: 1e6, Per: Flow})
	of := func(flows uint32, steps ...Step) string { return Spec{Steps: steps, Flows: flows}.Fingerprint() }
	for _, c := range []struct {
		was, is string
		want    bool
	}{
		{of(0, one, two), of(0, two), true}, {of(0, one, two), of(0, one), true}, {of(9000, one, fair), of(5000, fair), true}, {of(5000, one, fair), of(0, one), true},
		{of(0, one), of(0, one, two), false}, {of(0, one), of(0, two), false}, {of(0, two), of(0, NewDSCP(2, 10)), false}, {of(0, one), of(5000, fair), false},
	} {
		if got := Lessens(c.was, c.is); got != c.want {
			t.Errorf("%s in the place of %s: %t", c.is, c.was, got)
		}
	}
}
