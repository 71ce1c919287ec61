package deploy

import (
	"context"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// Fetch the images of containers that Up would make, which takes as long as it takes and changes nothing of the chain. That they are there need
// not be waited for by Up then.
func (d *Deployer) Fetch(ctx context.Context, p *plan.Plan) error {
	ctx, shut := engine.Share(ctx)
	defer shut()
	w := d.work(p)
	due, err := w.dueContainers(ctx, p)
	if err == nil && len(due.wanted) > 0 {
		_, err = w.prepare(ctx, due)
	}
	d.fetched = w.fetched
	return err
}

// prepare what containers are made from that are due, and what is to be looked for again whenever a chain is brought up: where
// that is another image now, the container is due too. It gives the images by the containers' names, where these must be of them.
func (w *work) prepare(ctx context.Context, of dueContainers) (images map[string]string, err error) {
	images = map[string]string{}
	due, all := of.due, of.all
	from := map[string][]resource.Resource{} // each image is prepared once
	for _, r := range of.wanted {
		s := r.Spec.(container.Spec)
		_, is := due[s.Name]
		if is {
			err := s.Mountable()
			if err != nil && !w.restoring {
				return nil, err
			}
			if err != nil {
				w.lacking[s.Name] = err
				delete(due, s.Name)
				continue
			}
		}
		if again := s.Pull == api.PullAlways && !w.restoring; is || again {
			key := strings.Join([]string{s.Engine, s.Image, s.Pull}, " ")
			from[key] = append(from[key], r)
		}
	}
	err = each(ctx, slices.Sorted(maps.Keys(from)), func(key string) error {
		s := from[key][0].Spec.(container.Spec)
		again := s.Pull == api.PullAlways && !w.restoring
		w.mu.Lock()
		fetched := w.fetched[key]
		w.mu.Unlock()
		if s.Pull == api.PullAlways && (w.restoring || fetched) {
			s.Pull = api.PullMissing
		}
		image, err := s.Prepare(ctx, w.owner, w.tell)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil {
			w.fetched[key] = true
		}
		if err != nil && w.restoring && ctx.Err() == nil {
			for _, r := range from[key] {
				w.lacking[r.Spec.Key()] = err
				delete(due, r.Spec.Key())
			}
			return nil
		}
		if err != nil || !again {
			return err
		}
		for _, r := range from[key] {
			name := r.Spec.Key()
			images[name] = image
			older := func(c engine.Container) bool { return c.Name == name && c.Image != image }
			if _, is := due[name]; !is && slices.ContainsFunc(all, older) {
				due[name] = resource.Change{Op: resource.Update, ID: r.ID, Kind: container.KindName, Namespace: netns.Host, Key: name, Spec: r.Spec}
			}
		}
		return nil
	})
	return images, err
}
