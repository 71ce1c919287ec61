package words

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"", "", ""},
		{"a b c", "a b c", ""},
		{"a b c", "a x c", "- b,+ x"},
		{"a b c", "x a b c", "+ x"},
		{"a b c", "a b", "- c"},
		{"a b c d", "b c d a", "- a,+ a"},
		{"a b c d e", "a c x d", "- b,+ x,- e"},
		{"", "a b", "+ a,+ b"},
		{"a b", "", "- a,- b"},
		{"x x a x", "x x a b x", "+ b"},
		{"- a", "+ a", "- -,+ +"},
	} {
		if got := strings.Join(Difference(strings.Fields(c.was), strings.Fields(c.is)), ","); got != c.want {
			t.Errorf("from %q to %q: %s, want %s", c.was, c.is, got, c.want)
		}
	}
}

// TestDifferenceIsWhole holds what was, less what is gone, to what is, less what came.
func TestDifferenceIsWhole(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		was, is := someLines(dice), someLines(dice)
		left, stayed := was, is
		for _, line := range Difference(was, is) {
			of := &left
			if line[0] == '+' {
				of = &stayed
			}
			at := slices.Index(*of, line[2:])
			if at < 0 {
				t.Fatalf("from %v to %v: %q is no line", was, is, line)
			}
			*of = slices.Delete(slices.Clone(*of), at, at+1)
		}
		slices.Sort(left)
		slices.Sort(stayed)
		if !slices.Equal(left, stayed) {
			t.Fatalf("from %v to %v: %v and %v are left", was, is, left, stayed)
		}
	}
}

func someLines(dice *rand.Rand) (lines []string) {
	for range dice.IntN(8) {
		lines = append(lines, string(rune('a'+dice.IntN(4))))
	}
	return slices.Clip(lines)
}

// TestDifferenceOfMany lines takes no time where few differ, and those that are all others are told so.
func TestDifferenceOfMany(t *testing.T) {
	var was, others []string
	for i := range 100_000 {
		was, others = append(was, strconv.Itoa(i)), append(others, "other "+strconv.Itoa(i))
	}
	is := slices.Clone(was)
	is[10], is[90_000] = "ten", "ninety"
	if got := strings.Join(Difference(was, is), ","); got != "- 10,+ ten,- 90000,+ ninety" {
		t.Error(got)
	}
	if got := Difference(was, others); len(got) != 200_000 || got[0] != "- 0" || got[100_000] != "+ other 0" {
		t.Error(len(got))
	}
}
