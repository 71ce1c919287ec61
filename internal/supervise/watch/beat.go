package watch

import "time"

// beats are at one of some times of a second, the same for many who watch over chains: what the first of them
// has a core bring into its caches is there for the others.
func beats(any uint64) time.Time {
	const times = 4
	second := time.Now().Add(-time.Duration(monotonic() % uint64(slow)))
	return second.Add(time.Duration(any%times) * slow / times)
}

// beat is the first time after another at which all functions are probed that are at rest: so who watches over
// them is woken once for all.
func (w *Watcher) beat(after time.Time) time.Time {
	return after.Add(slow - after.Sub(w.beats)%slow)
}
