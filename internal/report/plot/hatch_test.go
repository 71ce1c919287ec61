package plot

import (
	"regexp"
	"strconv"
	"testing"
)

// TestHatchStaysInItsArea: no line or point of it lies outside, and there are some.
func TestHatchStaysInItsArea(t *testing.T) {
	absolute := regexp.MustCompile(`[ML]([0-9.-]+) ([0-9.-]+)`)
	for name, draw := range map[string]func(x, y, w, h float64) string{"rising": rising, "falling": falling, "points": points} {
		for _, area := range [][4]float64{{100, 50, 200, 12}, {100, 50, 7, 20}, {100, 50, 1, 1}, {100, 50, 0, 12}} {
			d := draw(area[0], area[1], area[2], area[3])
			found := absolute.FindAllStringSubmatch(d, -1)
			if len(found) == 0 && area[2] > 5 {
				t.Errorf("%s: nothing is drawn in %v", name, area)
			}
			for _, m := range found {
				x, errX := strconv.ParseFloat(m[1], 64)
				y, errY := strconv.ParseFloat(m[2], 64)
				if errX != nil || errY != nil || area[2] > 5 && (x < area[0]-.01 || x > area[0]+area[2]+.01) || y < area[1]-.01 || y > area[1]+area[3]+1.01 {
					t.Errorf("%s: %q of %v", name, m[0], area)
				}
			}
		}
	}
}
