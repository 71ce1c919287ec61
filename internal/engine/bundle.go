package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// bundle is the directory of a container's task, where containerd makes none since that is there, and knows of none. So it is while it makes
// one, and where it was killed before the task's shim was told of it: started again it has the shim's program take the directory away, which
// fails for want of a file that the shim writes first (ReadRuntime in its runtime/v2/runc), and leaves it (binary.Delete in its runtime/v2).
type bundle struct {
	// id of the container, and the address of the containerd.
	id, address string
	// rest is how long it is as it was before it is taken for one that nothing is made in.
	rest time.Duration
	// at is how it is found here, once it is, and was how it is since.
	at    string
	was   state
	since time.Time
}

// state is what changes of a directory when something is made in it.
type state struct {
	dev, ino uint64
	changed  unix.Timespec
}

// restsFor is what containerd does not take from one step of making a task to the next, unless something of a task's is at work.
const restsFor = 2 * time.Second

// shimsFile is what a shim writes before it mounts anything and before it has runc begin.
const shimsFile = "runtime"

// bundleThere is how containerd says where a bundle is there (NewBundle in its runtime/v2).
var bundleThere = regexp.MustCompile(`mkdir (/.*/io\.containerd\.runtime\.v2\.task/([^/]+)/([^/]+)): file exists`)

// clear it away where nothing has begun in it and nobody does anything with it; the refusal is why no task is made, of which containerd says
// that there is none. An error says what keeps it there, and what to do; without one it is gone, or may soon be.
func (b *bundle) clear(refusal error) error {
	m := bundleThere.FindStringSubmatch(refusal.Error())
	if m == nil || m[2] != space || m[3] != b.id {
		return nil
	}
	if err := b.find(m[1]); err != nil {
		return err
	}
	is, err := stateOf(b.at)
	if err != nil { // it has just gone, or containerd has ended
		b.at = ""
		return nil
	}
	if is != b.was {
		b.was, b.since = is, time.Now()
	}
	if time.Since(b.since) < b.rest {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(b.at, shimsFile)); !errors.Is(err, fs.ErrNotExist) {
		return errors.New("what began in it may still run, and containerd takes that away with it when it is started again (systemctl restart containerd)")
	}
	if busy, err := b.endShims(is); busy || err != nil {
		return err
	}
	return empty(b.at)
}

// find it as containerd does, whatever it sees of this machine's files.
func (b *bundle) find(path string) error {
	if b.at != "" {
		return nil
	}
	c, err := rundir.Dial(b.address)
	if err != nil {
		return fmt.Errorf("whose containerd it is cannot be told (%w); start that again (systemctl restart containerd)", err)
	}
	_ = c.Close()
	if c.PID <= 0 {
		return errors.New("containerd numbers processes otherwise, and so nobody here can tell whether something runs in it; remove it where containerd runs")
	}
	b.at = fmt.Sprintf("/proc/%d/root%s", c.PID, path)
	return nil
}

func stateOf(dir string) (state, error) {
	var s unix.Stat_t
	if err := unix.Lstat(dir, &s); err != nil {
		return state{}, err
	}
	if s.Mode&unix.S_IFMT != unix.S_IFDIR {
		return state{}, unix.ENOTDIR
	}
	return state{uint64(s.Dev), s.Ino, s.Ctim}, nil
}

// endShims ends the shim of a task that it was never told of, which waits for that without end; busy until it has ended. Who else is at work
// there is an error.
func (b *bundle) endShims(at state) (busy bool, err error) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, cwd := range all {
		var s unix.Stat_t
		if unix.Stat(cwd, &s) != nil || uint64(s.Dev) != at.dev || s.Ino != at.ino {
			continue
		}
		busy = true
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(cwd)))
		if err := b.endShim(pid); err != nil {
			return true, err
		}
	}
	return busy, nil
}

// endShim ends a process that was at work there, if it is the container's shim.
func (b *bundle) endShim(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil { // it has ended
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if words := strings.Split(string(text), "\x00"); !isShim(words, b.id) && !Over(pid) {
		return fmt.Errorf("process %d (%s) is at work in it; end that", pid, filepath.Base(words[0]))
	}
	_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	return nil
}

// empty a directory and take it away, unless there is something in a directory in it, or that is mounted.
func empty(dir string) error {
	all, err := os.ReadDir(dir)
	for _, one := range all {
		err = errors.Join(err, os.Remove(filepath.Join(dir, one.Name())))
	}
	if err = errors.Join(err, os.Remove(dir)); err != nil {
		return fmt.Errorf("it cannot be removed (%w); see what is in it", err)
	}
	return nil
}

// kept is the error of a task that is not made since there is a bundle, which is kept there by another.
func kept(refusal, by error) error {
	if by == nil {
		return refusal
	}
	return fmt.Errorf("%w, though containerd knows no such task: %w; and then run this again", refusal, by)
}

// noted does what makes a snapshot, which fails once where containerd was killed as it had made a directory and not noted it: it comes to the same
// number again, takes that away as it fails, and finds room the next time (createSnapshot in its snapshots).
func noted(do func() error) (err error) {
	for range 3 {
		if err = do(); err == nil || !strings.Contains(err.Error(), unix.EEXIST.Error()) {
			return err
		}
	}
	return err
}
