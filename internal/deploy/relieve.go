package deploy

import (
	"context"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
)

// relieve a supervisor of another version, when all is made that comes before programs: where that fails, it goes on. What
// it told of is looked for again.
func (w *work) relieve() (err error) {
	if w.dry {
		return nil
	}
	relieved, err := process.Relieve(w.owner)
	if err != nil || !relieved {
		return err
	}
	w.relieved = true
	w.sight.mu.Lock()
	defer w.sight.mu.Unlock()
	for _, found := range w.sight.found {
		delete(found, process.KindName)
		delete(found, health.KindName)
	}
	return nil
}

// succeed a supervisor that was relieved, where the chain did not come to be what the plan says: as far as it did, its programs
// are kept running and, if its ports may lead as the plan says, its functions watched. What of that fails was told, or the next attempt tells it.
func (w *work) succeed(ctx context.Context, p *plan.Plan, before bool) {
	kinds := []resource.Kind{process.Kind{}, health.Kind{}}
	if before && len(w.awaits) > 0 {
		kinds = kinds[:1] // packets would be led past functions that none comes to yet
	}
	ctx, w.phase = context.WithoutCancel(ctx), making
	for _, kind := range kinds {
		_ = w.stage(ctx, []resource.Kind{kind}, p)
	}
}
