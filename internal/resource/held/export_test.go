package held

// Readers are waited for by a test's own means.
type Readers struct{ e endings }

// NewReaders that have ended when wait returns.
func NewReaders(wait func()) *Readers { return &Readers{endings{of: map[vacated]ending{}, wait: wait}} }

// End of those that read an area, which was the how many'th that counted.
func (r *Readers) End(area int, counted uint32) { r.e.end(vacated{1, area, counted}) }

// Await gives an area of these, with the how many'th each was, that nobody reads.
func (r *Readers) Await(areas map[int]uint32) int {
	var all []vacated
	for area, counted := range areas {
		all = append(all, vacated{1, area, counted})
	}
	return r.e.await(all).area
}

// MostEndings are known at once.
const MostEndings = mostEndings

// Known are so many areas.
func (r *Readers) Known() int {
	r.e.Lock()
	defer r.e.Unlock()
	return len(r.e.of)
}
