package proof

import (
	"fmt"
	"slices"
	"strings"
)

// Ways are where packets may go on from one function to another, by their places in the path. Each
// packet takes one of them, and its answer the same back.
type Ways struct {
	// First are the functions that the client's packets may come to, and Next those that each
	// function may send them to; the server's place is behind all functions.
	First []int
	Next  [][]int
}

// taken is the functions that passed a packet on, in order, and whether that is a whole way.
func (w *Ways) taken(taps []*tap, way, number int) (places []int, whole bool) {
	may := w.First
	whole = true
	for i, t := range taps {
		if t.in[way][number].IsZero() || t.out[way][number].IsZero() {
			continue
		}
		whole = whole && slices.Contains(may, i)
		places, may = append(places, i), w.Next[i]
	}
	return places, whole && slices.Contains(may, len(taps))
}

// complete tells whether all packets were seen on a whole way.
func (w *Ways) complete(taps []*tap) bool {
	for way := range 2 {
		for n := range rounds {
			if _, whole := w.taken(taps, way, n); !whole {
				return false
			}
		}
	}
	return true
}

// wrong is why packets did not each take a way, and their answers the same; "" if they did.
func (w *Ways) wrong(taps []*tap) string {
	for n := range rounds {
		there, whole := w.taken(taps, forward, n)
		back, wholeBack := w.taken(taps, reverse, n)
		switch {
		case !whole:
			return "traffic to the server takes no way of the chain: it passes " + named(taps, there)
		case !wholeBack:
			return "traffic to the client takes no way of the chain: it passes " + named(taps, back)
		case !slices.Equal(there, back):
			return fmt.Sprintf("an answer does not come back the way that it was asked: traffic to the server passes %s, and to the client %s", named(taps, there), named(taps, back))
		}
		passed := make([]*tap, len(there))
		for i, place := range there {
			passed[i] = taps[place]
		}
		if at := disorderly(passed, n); at != "" {
			return "traffic does not visit the functions in order: " + at
		}
	}
	return ""
}

// named are the functions at places.
func named(taps []*tap, places []int) string {
	if len(places) == 0 {
		return "none of its functions"
	}
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = taps[place].function.Name
	}
	return strings.Join(names, ", ")
}
