package words

import "slices"

// mostEdits is how many lines two texts may differ in until they are told as all others.
const mostEdits = 1000

// Difference tells by which lines a text is another than it was, as diff(1) has them: "- " is before one that is gone, "+ "
// before one that came. They are the fewest that can be (Myers, "An O(ND) difference algorithm and its variations", 1986),
// unless there are very many.
func Difference(was, is []string) (lines []string) {
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	was, is = was[same:], is[same:]
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	reached, found := furthest(was, is)
	if !found {
		for _, line := range was {
			lines = append(lines, "- "+line)
		}
		for _, line := range is {
			lines = append(lines, "+ "+line)
		}
		return lines
	}
	return edits(was, is, reached)
}

// furthest are, for each number of edits, how many lines of was are done at most on each diagonal, which is by how many more lines
// of was are done than of is; they begin at -edits, and each second one can be reached. The last number does it all.
func furthest(was, is []string) (reached [][]int, found bool) {
	for d := 0; d <= min(len(was)+len(is), mostEdits); d++ {
		at := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x, _ = step(reached[d-1], d, k)
			}
			for x < len(was) && x-k < len(is) && was[x] == is[x-k] {
				x++
			}
			if at[k+d] = x; x >= len(was) && x-k >= len(is) {
				return append(reached, at), true
			}
		}
		reached = append(reached, at)
	}
	return nil, false
}

// step to a diagonal by the edit of number d, from where the one before came to: the line of was that it ends at, and whether it is one that came.
func step(before []int, d, k int) (x int, came bool) {
	at := func(k int) int { return before[k+d-1] }
	if k == -d || k != d && at(k-1) < at(k+1) {
		return at(k + 1), true
	}
	return at(k-1) + 1, false
}

// edits are the lines on the way back from the end.
func edits(was, is []string, reached [][]int) (lines []string) {
	for d, k := len(reached)-1, len(was)-len(is); d > 0; d-- {
		x, came := step(reached[d-1], d, k)
		if came {
			lines = append(lines, "+ "+is[x-k-1])
			k++
		} else {
			lines = append(lines, "- "+was[x-1])
			k--
		}
	}
	slices.Reverse(lines)
	return lines
}
