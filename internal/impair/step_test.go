package impair

import "testing"

// TestClockIsSet: what came before is not believed, what comes after is.
func TestClockIsSet(t *testing.T) {
	const start = int64(1_800_000_000_000_000_000)
	for name, by := range map[string]int64{"forward": 300 * ms, "back": -300 * ms, "not": 0} {
		var s steady
		for _, c := range []struct {
			came, read, step int64 // ns after the start; the step is between them if it is not 0
			before           bool  // the stamp is of before the step
			want             bool
		}{
			{came: 1 * ms, read: 2 * ms, before: true, want: true},
			{came: 3 * ms, read: 5 * ms, before: true, step: by, want: by == 0},
			{came: 4 * ms, read: 6 * ms, before: true, step: by, want: by == 0},
			{came: 7 * ms, read: 8 * ms, step: by, want: true},
			{came: 5000 * ms, read: 5001 * ms, step: by, want: true},
		} {
			stamp := start + c.came
			if !c.before {
				stamp += c.step
			}
			read := func() (wall, mono int64) { return start + c.read + c.step, c.read }
			if got := s.believes(stamp, start+c.read+c.step, c.read, read); got != c.want {
				t.Errorf("%s: what came at %d is believed: %v", name, c.came, got)
			}
		}
	}
}

// TestClocksReadApart: who is put aside after reading the one takes nothing for a step.
func TestClocksReadApart(t *testing.T) {
	const start, aside = int64(1_800_000_000_000_000_000), 300 * ms
	var s steady
	again := 0
	read := func() (wall, mono int64) {
		if again++; again == 1 { // once more
			return start + 400*ms, 400*ms + aside
		}
		return start + 800*ms, 800 * ms
	}
	if !s.believes(start+1*ms, start+2*ms, 2*ms, read) || !s.believes(start+1*ms, start+3*ms, 3*ms+aside, read) || again != 2 {
		t.Errorf("a stamp is not believed; clocks were read %d times again", again)
	}
	if !s.believes(start+4*ms, start+801*ms, 801*ms, read) || again != 2 {
		t.Error("a stamp is not believed afterwards")
	}
}
