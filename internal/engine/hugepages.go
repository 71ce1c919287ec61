package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
)

// HugepagesAt is where a container that may use hugepages finds them as files.
const HugepagesAt = "/dev/hugepages"

// Furnish a container that runs, and waits for its network still, with the hugepages that it may have: no engine's API takes them, so its
// control group is told here, and its mounts get a file system of them.
func (c Container) Furnish(ctx context.Context, l Limits) error {
	if err := c.arrived(ctx); err != nil {
		return err
	}
	if err := c.BoundHugepages(l); err != nil {
		return err
	}
	is := func() bool { return Is(c.PID, c.ID) } // and its number is not another's
	err := netns.Among(c.PID, is, func() error { return mountHugepages(l.PageBytes) })
	if err != nil {
		return fmt.Errorf("mount hugepages in container %s: %w", c.Name, err)
	}
	return nil
}

// arrived waits until the first process of a container is nfchain's, in the mounts that it will have.
func (c Container) arrived(ctx context.Context) error {
	for deadline := time.Now().Add(lateAfter); Waits(c.PID) && gateOf(c.PID) == ""; {
		if time.Now().After(deadline) {
			return fmt.Errorf("container %s has not begun within %v; look at what its engine says of it, and try again", c.Name, lateAfter)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// mountHugepages of a size, unless they are there. Whoever the program runs as can make files.
func mountHugepages(page uint64) error {
	if err := unix.Mkdir(HugepagesAt, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return &os.PathError{Op: "mkdir", Path: HugepagesAt, Err: err}
	}
	var is unix.Statfs_t
	if err := unix.Statfs(HugepagesAt, &is); err == nil && is.Type == unix.HUGETLBFS_MAGIC && uint64(is.Bsize) == page {
		return nil
	}
	return unix.Mount("hugepages", HugepagesAt, "hugetlbfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("pagesize=%d,mode=1777", page))
}

// BoundHugepages has a container that runs use so many hugepages of their size at most, and none of another. That is counted where they are
// reserved, so that a program's mmap(2) fails, and not its first use of them.
func (c Container) BoundHugepages(l Limits) error {
	bounds, err := hugepageBounds(c.PID, c.ID)
	if err != nil {
		return fmt.Errorf("container %s: %w", c.Name, err)
	}
	if !slices.ContainsFunc(bounds, func(b hugepageBound) bool { return b.page == l.PageBytes }) {
		return fmt.Errorf("container %s: this machine has no hugepages of %s", c.Name, api.Size(l.PageBytes))
	}
	for _, b := range bounds {
		most := uint64(0)
		if b.page == l.PageBytes {
			most = l.HugepageBytes
		}
		err := os.WriteFile(b.reserved, []byte(strconv.FormatUint(most, 10)), 0)
		if err == nil || errors.Is(err, os.ErrNotExist) { // before Linux 5.7
			err = os.WriteFile(b.used, []byte(strconv.FormatUint(most, 10)), 0)
		}
		if errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("container %s has more hugepages than %s in use; end what uses them, or let it keep as many", c.Name, api.Size(most))
		}
		if err != nil {
			return fmt.Errorf("bound the hugepages of container %s: %w", c.Name, err)
		}
	}
	return nil
}

// hugepageBound is what a control group says of hugepages of a size, and where.
type hugepageBound struct {
	page           uint64
	used, reserved string
}

// most bytes of them that may be used; 0 is none, and any where it is not bound.
func (b hugepageBound) most() (bytes uint64, bound bool) {
	text, err := os.ReadFile(b.used)
	word := strings.TrimSpace(string(text))
	if err != nil || word == "max" {
		return 0, false
	}
	bytes, err = strconv.ParseUint(word, 10, 64)
	return bytes, err == nil && bytes < boundless // the first version has no word for any
}

// furnished are the hugepages that a container which was given some may use.
func (c *Container) furnished() {
	if c.PID == 0 || c.pages == "" {
		return
	}
	bounds, err := hugepageBounds(c.PID, c.ID)
	if err != nil {
		return
	}
	for _, b := range bounds {
		if bytes, bound := b.most(); bound && bytes > 0 && strconv.FormatUint(b.page, 10) == c.pages {
			c.Limits.PageBytes, c.Limits.HugepageBytes = b.page, bytes
		}
	}
}

// HugepagesInUse are the bytes of hugepages that a container which was given some has reserved, or else in use.
func (c Container) HugepagesInUse() uint64 {
	if c.Limits.HugepageBytes == 0 {
		return 0
	}
	bounds, _ := hugepageBounds(c.PID, c.ID)
	for _, b := range bounds {
		if b.page != c.Limits.PageBytes {
			continue
		}
		for _, file := range []string{b.reserved, b.used} {
			name := strings.NewReplacer(".limit_in_bytes", ".usage_in_bytes", ".max", ".current").Replace(filepath.Base(file))
			if text, err := os.ReadFile(filepath.Join(filepath.Dir(file), name)); err == nil {
				bytes, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
				return bytes
			}
		}
	}
	return 0
}

// hugepageBounds are those of a container's own control group, by size.
func hugepageBounds(pid int, id string) ([]hugepageBound, error) {
	dir, version, err := groupOf(pid, id, "hugetlb")
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, errors.New("its engine has put it into no control group of hugepages of its own; start the engine anew once they are mounted (`nfchain doctor` tells of hugepages.limits)")
	}
	bounds := boundsIn(dir, version)
	if len(bounds) == 0 {
		return nil, fmt.Errorf("its control group %s bounds no hugepages; the groups above it must pass that on (cgroup.subtree_control: +hugetlb)", dir)
	}
	return bounds, nil
}

// boundsIn a directory of control groups of a version.
func boundsIn(dir string, version int) (all []hugepageBound) {
	end := map[int]string{1: ".limit_in_bytes", 2: ".max"}[version]
	files, _ := filepath.Glob(filepath.Join(dir, "hugetlb.*"+end))
	for _, used := range files {
		size := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(used), "hugetlb."), end)
		if page := pageBytes(size); page > 0 {
			all = append(all, hugepageBound{page, used, filepath.Join(dir, "hugetlb."+size+".rsvd"+end)})
		}
	}
	slices.SortFunc(all, func(a, b hugepageBound) int { return cmp.Compare(a.page, b.page) })
	return all
}

// pageBytes is the size in the name of a control group's file, such as 2MB; 0 where it is none.
func pageBytes(name string) uint64 {
	for unit, bytes := range map[string]uint64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30} {
		if number, is := strings.CutSuffix(name, unit); is {
			n, err := strconv.ParseUint(number, 10, 32)
			if err != nil {
				return 0
			}
			return n * bytes
		}
	}
	return 0
}
