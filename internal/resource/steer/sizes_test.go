package steer_test

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestMemoryHasRoomForBoth rules: those that count until others do, and these; with room to spare where that is not much.
func TestMemoryHasRoomForBoth(t *testing.T) {
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		t.Fatal(err)
	}
	of := map[int]int{}
	for _, wanted := range []uint32{0, 10, 3000, 100_000} {
		for _, live := range []uint32{0, 10, 3000, 100_000} {
			for _, most := range [][2]int{{1 << 10, 1 << 10}, {1 << 20, 1 << 10}, {1 << 10, 4 << 20}, {10 << 20, 10 << 20}, {30 << 20, 1 << 20}, {1 << 20, 120 << 20}, {127 << 20, 127 << 20}} {
				areas, room, counters, err := steer.Sizes(wanted, live, most[0], most[1])
				if err != nil {
					t.Fatal(err)
				}
				of[areas]++
				if room < max(most[0], most[1]) || counters < max(wanted, live)+2 {
					t.Errorf("%d and %d rules of %d bytes: areas have room for %d bytes and %d counters", wanted, live, most, room, counters)
				}
				exact := room == held.Rounded(max(most[0], most[1])) && counters == max(wanted, live)+2
				if all := areas * (room + int(counters)*16*cores); all > held.AtEase && (areas > 2 || !exact) || areas*room > steer.MostMemory {
					t.Errorf("%d and %d rules of %d bytes: %d areas of %d bytes and %d counters take %d", wanted, live, most, areas, room, counters, all)
				}
			}
		}
	}
	if of[2] == 0 || of[4] == 0 {
		t.Errorf("there are so many of so many areas: %v", of)
	}
	if _, _, _, err := steer.Sizes(5, 0, steer.MostMemory/2+1, 1<<10); err == nil || !strings.Contains(err.Error(), "leave some out") {
		t.Errorf("more than there can be: %v", err)
	}
}
