package deploy

import "nfchain.dev/nfchain/internal/resource"

// record changes that are made, or would be.
func (w *work) record(changes ...resource.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dry {
		w.done = append(w.done, changes...)
		return
	}
	for _, c := range changes { // of which each stage finds those that one before would have made
		if key := string(c.Op) + " " + c.ID; !w.foretold[key] {
			w.done = append(w.done, c)
			w.foretold[key] = true
		}
	}
}
