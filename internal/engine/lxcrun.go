package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	lxcconfig "nfchain.dev/nfchain/internal/engine/lxc"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// groupsAt is where control groups are: of the second version there, and of the first one hierarchy in each directory.
var groupsAt = "/sys/fs/cgroup"

// groupsOf a container, or of its monitor, by their name.
func groupsOf(name string) []string {
	all, _ := filepath.Glob(filepath.Join(groupsAt, "*", name))
	if one := filepath.Join(groupsAt, name); exists(one) {
		all = append(all, one)
	}
	return all
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// each control group below these, those that are in another before that.
func eachGroup(groups []string, do func(dir string)) {
	for _, group := range groups {
		below, _ := filepath.Glob(filepath.Join(group, "*", "cgroup.procs"))
		for _, file := range below {
			eachGroup([]string{filepath.Dir(file)}, do)
		}
		do(group)
	}
}

// processesIn control groups, of a name.
func processesIn(name string) (pids []int) {
	eachGroup(groupsOf(name), func(dir string) {
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	})
	return pids
}

// firstIn a container, of whose processes it is the first; 0 while there is none.
func firstIn(id string) int {
	for _, pid := range processesIn(lxcconfig.Group(id)) {
		if first(pid) {
			return pid
		}
	}
	return 0
}

// first tells whether a process is the first in its PID namespace (proc_pid_status(5), NSpid), and has not ended.
func first(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || Over(pid) {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if numbers, is := strings.CutPrefix(line, "NSpid:"); is {
			all := strings.Fields(numbers)
			return len(all) == 2 && all[1] == "1"
		}
	}
	return false
}

// state of a container: its first process, or how it ended. While its monitor lives there is an end that it has not told of.
func (l lxc) state(ctx context.Context, id string) (pid, code int, how string) {
	const unknown = "ended, and LXC does not know how"
	for deadline := time.Now().Add(endsWithin); ; time.Sleep(2 * time.Millisecond) {
		if pid := firstIn(id); pid > 0 {
			return pid, 0, ""
		}
		file, err := os.Open(l.at(id, lxcEnded))
		if err != nil { // it has not run yet
			return 0, 0, ""
		}
		if locked(file) {
			_ = file.Close()
			if ctx.Err() != nil || time.Now().After(deadline) {
				return 0, 137, "ended, and its monitor, lxc-start, hangs"
			}
			continue
		}
		text, _ := io.ReadAll(file)
		_ = file.Close()
		code, err := strconv.Atoi(strings.TrimSpace(string(text)))
		switch {
		case err != nil:
			return 0, UnknownCode, unknown
		case code == 0:
			code = l.told(id)
		}
		if ranOutIn(l.at(id, lxcMemory)) {
			return 0, code, "ended: it needed more memory than it may have"
		}
		return 0, code, fmt.Sprintf("ended with exit code %d", code)
	}
}

// lxcTold is how lxc-start tells its log, and not always by its exit code, how a container's first process ended.
var lxcTold = regexp.MustCompile(` ended on (error|signal) [^0-9\n]*(\d+)`)

// told is that as an exit code, as a shell would have it; 0 where there is nothing of it.
func (l lxc) told(id string) int {
	text, _ := os.ReadFile(l.at(id, lxcLog))
	all := lxcTold.FindStringSubmatch(string(text))
	if all == nil {
		return 0
	}
	code, _ := strconv.Atoi(all[2])
	if all[1] == "signal" {
		code += 128
	}
	return code
}

// locked tells whether who starts or watches over a container has its file.
func locked(file *os.File) bool {
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// noting has a container's memory group noted when it has ended, as long as it is there.
func (l lxc) noting(id string) string {
	return fmt.Sprintf("sh -c 'cat %[1]s/%[2]s/memory.events %[1]s/memory/%[2]s/memory.oom_control >%[3]s 2>/dev/null; true'", groupsAt, lxcconfig.Group(id), l.at(id, lxcMemory))
}

// Start takes away what is left of the last time that the container ran.
func (l lxc) Start(ctx context.Context, id string) (Container, error) {
	id = idOf(id)
	if err := l.start(ctx, id); err != nil {
		return Container{}, fmt.Errorf("start container %s: %w", id, err)
	}
	return l.Inspect(ctx, id)
}

// watching is run by a shell beside the container as long as that runs: it starts it in the foreground, and writes its exit code to a file that
// is locked until then, by whose lock it is known that somebody does.
const watching = `umask 022; "$@" 3>&-; echo $? >&3`

// startsWithin is how long LXC may take to start a container.
const startsWithin = 30 * time.Second

func (l lxc) start(ctx context.Context, id string) error {
	ended, runs, err := l.turn(ctx, id)
	if err != nil || runs {
		return err
	}
	defer func() { _ = ended.Close() }()
	r, err := l.record(id)
	if err != nil {
		return err
	}
	if firstIn(id) > 0 { // which goes on without one that watches over it
		return nil
	}
	if err := clearGroups(ctx, id); err != nil {
		return err
	}
	_, _ = os.Remove(l.at(id, lxcMemory)), os.Remove(l.at(id, lxcLog))
	name := rundir.Log(r.Labels[labelOwner], r.Labels[labelNode])
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	words := []string{"-c", watching, "sh", "lxc-start", "--foreground", "--quiet", "--lxcpath", l.containers(), "--name", id, "--logfile", l.at(id, lxcLog), "--logpriority", "INFO", "--"}
	c := exec.Command("sh", append(words, r.Spec.Process.Args...)...)
	c.Stdout, c.Stderr, c.ExtraFiles, c.Dir = log, log, []*os.File{ended}, "/"
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	over, started := make(chan struct{}), make(chan struct{})
	defer close(started)
	go func() {
		untilOver(c.Process.Pid)
		close(over)
		<-started // until when no other has its number
		_ = c.Wait()
	}()
	if err := l.begun(ctx, id, over); err != nil {
		_ = unix.Kill(-c.Process.Pid, unix.SIGKILL) // what has not come to its control group yet
		_ = ended.Close()
		clearing, stop := afterwards(ctx, stopsWithin)
		defer stop()
		return errors.Join(err, l.clear(clearing, id))
	}
	return nil
}

// turn takes the file of a container that is to be started, unless another who has it has started it. When that one should have and has not,
// the container has ended and its monitor hangs, and is ended.
func (l lxc) turn(ctx context.Context, id string) (file *os.File, runs bool, err error) {
	within := endsWithin
	if info, err := os.Stat(l.at(id, lxcEnded)); err == nil { // changed when it was taken
		within = min(max(within, startsWithin-time.Since(info.ModTime())), startsWithin)
	}
	for begun := time.Now(); ; {
		file, taken, err := l.take(id)
		switch {
		case err != nil || !taken:
			return file, false, err
		case firstIn(id) > 0:
			return nil, true, nil
		case ctx.Err() != nil:
			return nil, false, context.Cause(ctx)
		case time.Since(begun) < within:
			continue
		}
		if err := l.clear(ctx, id); err != nil {
			return nil, false, err
		}
		if file, taken, err = l.take(id); taken {
			err = errors.New("another starts it at this moment")
		}
		return file, false, err
	}
}

// looksWithin is how long somebody may have a container's file who only looks at it.
const looksWithin = 50 * time.Millisecond

// take the file that is locked while somebody starts a container or watches over it.
func (l lxc) take(id string) (file *os.File, taken bool, err error) {
	file, err = os.OpenFile(l.at(id, lxcEnded), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		taken = errors.Is(err, unix.EWOULDBLOCK)
		if !taken || time.Since(begun) > looksWithin {
			break
		}
	}
	switch {
	case taken:
		_ = file.Close()
		return nil, true, nil
	case err != nil:
		_ = file.Close()
		return nil, false, err
	}
	return file, false, file.Truncate(0)
}

// begun waits until the container's first process is nfchain, and not LXC any more.
func (l lxc) begun(ctx context.Context, id string, over <-chan struct{}) error {
	ctx, stop := context.WithTimeoutCause(ctx, startsWithin, fmt.Errorf("LXC has not started it within %v", startsWithin))
	defer stop()
	for {
		if pid := firstIn(id); pid > 0 && entered(pid) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w%s", context.Cause(ctx), l.said(id))
		case <-over:
			return fmt.Errorf("LXC did not%s", l.said(id))
		case <-time.After(time.Millisecond):
		}
	}
}

// entered tells that a process is what a container begins with.
func entered(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(string(text), "\x00")
	return err == nil && words[0] == program
}

// said is what LXC told of the start of a container.
func (l lxc) said(id string) string {
	text, err := os.ReadFile(l.at(id, lxcLog))
	var last []string
	for line := range strings.Lines(string(text)) {
		if _, what, is := strings.Cut(line, " ERROR "); is {
			last = append(last, strings.Join(strings.Fields(what), " "))
		}
	}
	if err != nil || len(last) == 0 {
		return ""
	}
	return "; it said:\n" + strings.Join(last[:min(len(last), lastLines)], "\n")
}

// endsWithin is how long a monitor may take to end when it has nothing to watch over any more.
const endsWithin = 2 * time.Second

// clear away all that is left of a container, and who starts it at this moment, whose processes come to its control groups yet.
func (l lxc) clear(ctx context.Context, id string) error {
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		if err := clearGroups(ctx, id); err != nil || !l.watched(id) {
			return err
		}
		if ctx.Err() != nil || time.Since(begun) > stopsWithin {
			return fmt.Errorf("the shell beside its monitor, lxc-start, does not end; see fuser %s", l.at(id, lxcEnded))
		}
	}
}

// watched tells whether somebody starts a container or watches over it.
func (l lxc) watched(id string) bool {
	file, err := os.Open(l.at(id, lxcEnded))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return locked(file)
}

// clearGroups ends all that is left of a container, its processes first, and takes its control groups away. It asks no monitor for that,
// which may hang, or may be gone.
func clearGroups(ctx context.Context, id string) error {
	own, monitors := lxcconfig.Group(id), []string{lxcconfig.Monitor(id), lxcconfig.Pivot(id)}
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		left := processesIn(own)
		for _, pid := range left {
			end(pid, own)
			Resume(pid) // or it may not notice that
		}
		var watching []int
		groups := groupsOf(own)
		for _, monitor := range monitors {
			all := processesIn(monitor)
			for _, pid := range all {
				if time.Since(begun) > endsWithin {
					end(pid, monitor)
				}
			}
			watching = append(watching, all...)
			groups = append(groups, groupsOf(monitor)...)
		}
		if len(left) == 0 && len(watching) == 0 {
			eachGroup(groups, func(dir string) { _ = os.Remove(dir) })
		}
		if !slices.ContainsFunc(groups, exists) {
			return nil
		}
		if ctx.Err() != nil || time.Since(begun) > stopsWithin {
			return fmt.Errorf("processes %v of it do not end, nor do %v, which watch over it", left, watching)
		}
	}
}

func (l lxc) Remove(ctx context.Context, id string) error {
	id = idOf(id)
	if err := l.remove(ctx, id); err != nil {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}

// remove the record last, by which what is left is found.
func (l lxc) remove(ctx context.Context, id string) error {
	dir := l.at(id, "")
	if !exists(dir) {
		return nil
	}
	if err := l.clear(ctx, id); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == lxcRecord {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	// LXC's own lock, a file that it leaves.
	_ = os.Remove(filepath.Join("/run/lxc/lock", l.containers(), "."+id))
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	_ = os.Remove(l.containers()) // where it was the last
	return nil
}

// limitGroups of a container that runs.
func limitGroups(id string, to Limits) error {
	r, err := to.task()
	if err != nil {
		return err
	}
	for _, limit := range lxcconfig.Limits(r) {
		for _, group := range groupsOf(lxcconfig.Group(id)) {
			for name, text := range map[string]string{limit.One: limit.AsOne, limit.Two: limit.AsTwo} {
				file := filepath.Join(group, name)
				if name == "" || !exists(file) {
					continue
				}
				if err := os.WriteFile(file, []byte(text), 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
