package pass

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// limitsAsIn tells whether each limit of a spec is in the slot where it was before, and limits what it did.
func (s Spec) limitsAsIn(before carrying, steps []Step) bool {
	own, had := s.carrying(), limitsOf(steps)
	for _, step := range s.Steps {
		if was, is := before[step.Slot], own[step.Slot]; step.Act == Limit && (was.Act != is.Act || was.Whose != is.Whose || had[step.Slot].Args != step.Args) {
			return false
		}
	}
	return true
}

// limitsChain of a pass otherwise than these steps of it, which have the same slots: its buckets are what they remember.
func (s Spec) limitsChain(steps []Step) bool {
	had := limitsOf(steps)
	return slices.ContainsFunc(s.Steps, func(is Step) bool {
		was, has := had[is.Slot]
		return is.Act == Limit && has && was.Args != is.Args && (was.per() == Chain || is.per() == Chain)
	})
}

// limitsOf steps, by their slots.
func limitsOf(steps []Step) map[uint32]Step {
	all := map[uint32]Step{}
	for _, s := range steps {
		if s.Act == Limit {
			all[s.Slot] = s
		}
	}
	return all
}

// per is whose buckets a limit has.
func (s Step) per() Per { return Per(s.Args[2]) }

// inPlaceOf another limit, a bucket that was full at a time is so at this one; it is full already where each is another's. What
// was taken out of it takes as long as the new rate has it, and at most what a full one holds.
func (s Step) inPlaceOf(was Step, full, now uint64) (at uint64) {
	debt := int64(full - now)
	switch {
	case debt <= 0 || was.Args[2] != s.Args[2]:
		return now
	case was.Args == s.Args:
		return full
	}
	scaled, most := float64(debt)*s.ticksPerByte()/was.ticksPerByte(), s.Args[1]
	if scaled >= float64(most) {
		return now + most
	}
	return now + uint64(scaled)
}

// HasBuckets tells whether a step is a limit by which flows or prefixes have their own.
func (s Step) HasBuckets() bool { return s.Act == Limit && s.per() != Chain }

// ticksPerByte of a limit.
func (s Step) ticksPerByte() float64 {
	return math.Ldexp(float64(uint32(s.Args[0])), -int(s.Args[0]>>32))
}

// ticksNow is the time that buckets are by.
func ticksNow() (uint64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, err
	}
	return uint64(now.Nano()) * ticksInNs, nil
}

// refill gives flows and prefixes the buckets that they have in a pass with these steps in whose place this one will be, of the
// limits that both have, where it has not the same ones. Those that are not there are full.
func (l *Loaded) refill(s Spec, before carrying, steps []Step, old *attached) error {
	if !hasBuckets(s.Steps) {
		return nil
	}
	from, err := held.NumberOf(old.Maps[bucketsMap])
	to, wrong := held.NumberOf(l.maps[bucketsMap])
	if err != nil || wrong != nil || from == to {
		return errors.Join(err, wrong)
	}
	becomes, own, had := map[uint32]Step{}, s.carrying(), limitsOf(steps)
	for _, step := range s.Steps {
		if was, has := own.from(int(step.Slot), before); has && step.Act == Limit {
			becomes[uint32(was)] = step
		}
	}
	now, err := ticksNow()
	if err != nil {
		return err
	}
	return eachBucket(old.Maps[bucketsMap], func(f program.ProgramFlow, full uint64) error {
		step, stays := becomes[f.Slot]
		if !stays {
			return nil
		}
		if full = step.inPlaceOf(had[f.Slot], full, now); full == now {
			return nil
		}
		f.Slot = step.Slot
		if err := l.maps[bucketsMap].Put(f, full); err != nil {
			return fmt.Errorf("have a flow keep its bucket: %w", err)
		}
		return nil
	})
}

// Buckets are those of flows or prefixes that a limit has.
type Buckets struct {
	// Held are those of the limit itself.
	Held uint64
	// Most that it can have with the other limits of its pass, and Evicted those of all of these that made room for others since their table
	// was made: those that a table took over from another stand in for as many.
	Most    uint32
	Evicted uint64
}

// BucketsAt tells of each limit by flow or prefix in the pass of an interface, by its slot; nothing where none is there, or one of another version. It takes time with the number
// of buckets, and may miss those that come or go meanwhile.
func BucketsAt(p resource.Place, device string) (map[uint32]Buckets, error) {
	dev, err := p.Device(device)
	if err != nil {
		return nil, nil
	}
	all := map[uint32]Buckets{}
	err = p.Do(func() error {
		passes, err := find(p, dev.Attrs().Index)
		if err != nil || len(passes) == 0 {
			return err
		}
		defer held.CloseAll(passes)
		c, err := passes[0].read()
		if err != nil {
			return nil // another version's, which the next `up` replaces
		}
		for _, s := range c.steps {
			if s.HasBuckets() {
				all[s.Slot] = Buckets{Most: c.flows}
			}
		}
		return passes[0].buckets(all)
	})
	if err != nil {
		err = fmt.Errorf("read the buckets of limits at %s of namespace %q: %w", device, p.Ref, err)
	}
	return all, err
}

// buckets of limits that are told by their slots are counted: first those that were made, so that one which comes is not taken for one that made room.
func (a attached) buckets(all map[uint32]Buckets) error {
	if len(all) == 0 || a.Maps[bucketsMadeMap] == nil {
		return nil
	}
	made, err := madeIn(a.Maps[bucketsMadeMap])
	if err != nil {
		return fmt.Errorf("read how many buckets were made: %w", err)
	}
	there := uint64(0)
	err = eachBucket(a.Maps[bucketsMap], func(f program.ProgramFlow, _ uint64) error {
		there++
		if b, has := all[f.Slot]; has {
			b.Held++
			all[f.Slot] = b
		}
		return nil
	})
	for slot, b := range all {
		b.Evicted = made - min(made, there)
		all[slot] = b
	}
	return err
}

// eachBucket of a table, and when it is full. Those that come or go meanwhile may be missed.
func eachBucket(table *ebpf.Map, do func(f program.ProgramFlow, full uint64) error) error {
	var cursor ebpf.MapBatchCursor
	keys, values := make([]program.ProgramFlow, 4096), make([]uint64, 4096)
	for {
		n, ended := table.BatchLookup(&cursor, keys, values, nil)
		if ended != nil && !errors.Is(ended, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("read the buckets of flows: %w", ended)
		}
		for i := range n {
			if err := do(keys[i], values[i]); err != nil {
				return err
			}
		}
		if ended != nil {
			return nil
		}
	}
}
