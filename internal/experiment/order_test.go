package experiment

import (
	"fmt"
	"slices"
	"testing"
)

func TestOrderIsCompleteBlocks(t *testing.T) {
	order := Order(20, 10, 42)
	if len(order) != 200 {
		t.Fatalf("%d slots", len(order))
	}
	for block := range 10 {
		seen := map[int]bool{}
		for _, s := range order[block*20 : block*20+20] {
			if s.Repeat != block+1 || seen[s.Condition] || s.Condition < 0 || s.Condition > 19 {
				t.Fatalf("block %d: %+v", block, s)
			}
			seen[s.Condition] = true
		}
	}
}

func TestOrderDependsOnTheSeedAlone(t *testing.T) {
	if !slices.Equal(Order(20, 3, 1), Order(20, 3, 1)) || slices.Equal(Order(20, 3, 1), Order(20, 3, 2)) {
		t.Error("the seed does not decide")
	}
	if !slices.Equal(Order(20, 3, -5), Order(20, 9, -5)[:60]) {
		t.Error("fewer repeats are not the beginning of more")
	}
	if Order(0, 3, 1) == nil || len(Order(5, 0, 1)) != 0 || len(Order(-1, -1, 1)) != 0 {
		t.Error("nothing to do is not an empty order")
	}
}

// A recorded seed must give this order for ever.
func TestOrderStaysAsRecorded(t *testing.T) {
	const want = "[{1 1} {2 1} {3 1} {4 1} {0 1} {0 2} {2 2} {1 2} {3 2} {4 2}]"
	if got := fmt.Sprint(Order(5, 2, 2016)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Every condition must be found at every place of a block equally often.
func TestShuffleIsFair(t *testing.T) {
	const n, blocks = 5, 20000
	var counts [n][n]int
	for i, s := range Order(n, blocks, 3) {
		counts[i%n][s.Condition]++
	}
	for place, row := range counts {
		for condition, count := range row {
			if count < blocks/n-300 || count > blocks/n+300 { // 5 standard deviations
				t.Errorf("condition %d at place %d: %d times of %d", condition, place, count, blocks)
			}
		}
	}
}

func TestRemainingGoesOn(t *testing.T) {
	order := Order(4, 3, 9)
	done := append(slices.Clone(order[:5]), Slot{99, 1}, order[7])
	want := append(slices.Clone(order[5:7]), order[8:]...)
	if got := Remaining(order, done); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if left := Remaining(order, order); left == nil || len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestTrialsOnOneInstanceAreTogether, of every chain, and lose nothing by it.
func TestTrialsOnOneInstanceAreTogether(t *testing.T) {
	chain := []int{0, 1, 0, 2} // two conditions of the first
	order := Order(4, 6, 11)
	got := OnInstances(order, 2, chain)
	if left := Remaining(order, got); len(got) != len(order) || len(left) > 0 {
		t.Fatalf("%d of %d slots, without %v", len(got), len(order), left)
	}
	changes := 0
	for i, s := range got {
		if i == 0 || chain[got[i-1].Condition] != chain[s.Condition] || (got[i-1].Repeat-1)/2 != (s.Repeat-1)/2 {
			changes++
		}
		if i > 0 && (got[i-1].Repeat-1)/2 > (s.Repeat-1)/2 {
			t.Errorf("%v comes after %v", s, got[i-1])
		}
	}
	if changes != 9 {
		t.Errorf("chains are made %d times, want each of three for each of three pairs of repeats", changes)
	}
	if one := OnInstances(order, 6, []int{0, 0, 0, 0}); !slices.Equal(one, order) {
		t.Error("the order of one chain's trials changes")
	}
}
