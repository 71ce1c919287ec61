package through

import (
	"fmt"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Kind makes programs at interfaces.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	var found []resource.Observed
	err = p.Do(func() error {
		for index, device := range mine {
			text, err := observe(p, index, mine)
			if err != nil {
				return fmt.Errorf("look for what passes packets through at %s of namespace %q: %w", device, p.Ref, err)
			}
			if text != "" {
				found = append(found, resource.Observed{Key: device, Fingerprint: text})
			}
		}
		return nil
	})
	return found, err
}

// observe writes down what is at an interface; nothing is "". More than one program is what
// should not be.
func observe(p resource.Place, index int, mine map[int]string) (string, error) {
	all, err := atTC(p, index)
	defer held.CloseAll(all)
	var texts []string
	for _, a := range all {
		texts = append(texts, fingerprint(a.whither(mine), TC, a.Name))
	}
	if err != nil {
		return "", err
	}
	frames, err := atXDP(p, index)
	if frames != nil {
		texts = append(texts, fingerprint(frames.whither(mine), XDP, frames.Name))
		frames.Close()
	}
	return strings.Join(texts, and), err
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return p.Do(func() error {
		return resource.Make(changes,
			func(device string) error { return remove(p, device) },
			func(s Spec) error { return set(p, s) })
	})
}

func failed(p resource.Place, device string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("have what comes in at %s of namespace %q pass through: %w", device, p.Ref, err)
}

// remove what is at an interface, unless that has gone.
func remove(p resource.Place, device string) error {
	dev, err := p.Device(device)
	if err != nil {
		return nil
	}
	all, err := atTC(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	if err == nil {
		err = takeFrames(p, dev.Attrs().Index)
	}
	if err == nil {
		err = take(p, dev.Attrs().Index, all)
	}
	return failed(p, device, err)
}

// take programs away that are behind an interface's driver.
func take(p resource.Place, index int, all []attached) error {
	for _, a := range all {
		if err := a.Take(p, index); err != nil {
			return err
		}
	}
	return nil
}

// set what an interface's packets go through: what is there is replaced at once, so that none
// is lost.
func set(p resource.Place, s Spec) error {
	dev, err := p.Device(s.Device)
	if err != nil {
		return err
	}
	to, err := p.Device(s.To)
	if err != nil {
		return err
	}
	index := dev.Attrs().Index
	all, err := atTC(p, index)
	defer held.CloseAll(all)
	if err == nil {
		err = keep(p, index, uint32(to.Attrs().Index), all)
	}
	switch {
	case err != nil:
	case s.Mode == XDP:
		err = keepFrames(p, index)
	default:
		err = takeFrames(p, index)
	}
	return failed(p, s.Device, err)
}

// keep a program of this version behind the driver, or put one in the place of the first that is
// there. What is superfluous goes last.
func keep(p resource.Place, index int, to uint32, all []attached) error {
	if len(all) == 0 {
		return put(p, index, to, nil)
	}
	first := all[0]
	if first.Name == Name {
		if err := first.Maps[nextMap].Put(uint32(0), to); err != nil {
			return err
		}
	} else if err := put(p, index, to, &first); err != nil {
		return err
	}
	return take(p, index, all[1:])
}
