package process

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource"
)

// Kind keeps programs.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// unsupervised begins the fingerprint of a program that no supervisor watches, so
// that it is given to one, or removed. Behind it are those of what leads the program's sessions.
const unsupervised = "no supervisor watches it"

// TakesOver tells of a change that it gives a program to a supervisor which runs already, and goes on.
func TakesOver(c resource.Change) bool {
	found, left := strings.CutPrefix(c.Was, unsupervised)
	if !left || c.Op != resource.Update {
		return false
	}
	s, contained := c.Spec.(Spec)
	contained = contained && s.Container != nil // of which only a ready command is found, and which goes on with its container
	return contained || slices.Contains(strings.Fields(found), c.Spec.Fingerprint())
}

// Read implements resource.Kind. Without a supervisor it finds the programs that
// a killed one left.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	reply, err := call(p.Owner, Request{Op: OpStatus})
	var found []resource.Observed
	if err == nil {
		for _, s := range reply.Programs {
			found = append(found, resource.Observed{Key: s.Node, Fingerprint: s.Fingerprint})
		}
		return found, nil
	}
	if !errors.Is(err, rundir.ErrNone) {
		return nil, err
	}
	left, err := find(p)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, f := range left {
		if f.Node == "" {
			continue // whoever watches the program ends it
		}
		text := cmp.Or(all[f.Node], unsupervised)
		if f.Leads && !f.Asks {
			text += " " + f.Fingerprint
		}
		all[f.Node] = text
	}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		found = append(found, resource.Observed{Key: node, Fingerprint: all[node]})
	}
	return found, nil
}

// Apply implements resource.Kind. The supervisor is sent only what changes, and
// what goes last, because a supervisor without programs ends.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	if err := start(p.Owner); err != nil {
		return err
	}
	var wanted []Spec
	var gone []string
	for _, c := range changes {
		if c.Op == resource.Delete {
			gone = append(gone, c.Key)
			continue
		}
		wanted = append(wanted, c.Spec.(Spec))
	}
	for _, s := range inOrder(wanted) {
		if _, err := call(p.Owner, Request{Op: OpSet, Programs: []Spec{s}}); err != nil {
			return fmt.Errorf("function %s: %w", s.Node, err)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if _, err := call(p.Owner, Request{Op: OpRemove, Nodes: gone}); err != nil {
		return fmt.Errorf("functions %v: %w", gone, err)
	}
	return nil
}

// inOrder has each program behind those that it waits for, which are replaced before it then: else it would begin
// while the old ones are ready.
func inOrder(all []Spec) (ordered []Spec) {
	of, taken := map[string][]int{}, make([]bool, len(all))
	for i, s := range all {
		of[s.Function()] = append(of[s.Function()], i)
	}
	var take func(i int)
	take = func(i int) {
		if taken[i] {
			return
		}
		taken[i] = true
		for _, function := range all[i].After {
			for _, other := range of[function] {
				take(other)
			}
		}
		ordered = append(ordered, all[i])
	}
	for i := range all {
		take(i)
	}
	return ordered
}

// Begin makes sure that a supervisor runs, before there are programs for it, and Rest has it end where there came to be none.
func Begin(owner string) error { return start(owner) }

// Rest has a supervisor end that has nothing to do.
func Rest(owner string) error {
	_, err := call(owner, Request{Op: OpRemove})
	if errors.Is(err, rundir.ErrNone) {
		return nil
	}
	return err
}

// startsWithin is how long a supervisor may take until it listens: one that ends is seen at once, and a busy machine
// has taken more than ten seconds to begin it.
const startsWithin = time.Minute

// start makes sure that a supervisor runs: the same binary, in a session of its
// own, so that it outlives the command that needs it. Until somebody has asked it for
// something it does not: where this process is killed before the other listens, nobody
// but [Stop] would ever find that.
func start(owner string) error {
	runtime.LockOSThread() // whose end would be this process's, for Pdeathsig
	defer runtime.UnlockOSThread()
	if _, err := call(owner, Request{Op: OpStatus}); !errors.Is(err, rundir.ErrNone) {
		return err
	}
	said, err := memoryFile("said by the supervisor")
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }()
	held, err := rundir.Share(lifeline(owner))
	if err != nil {
		return fmt.Errorf("start the supervisor of %s: %w", owner, err)
	}
	defer func() { _ = held.Close() }()
	cmd := exec.Command(netns.Image(), SuperviseCommand, owner)
	cmd.Args[0] = os.Args[0]
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stderr = held, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the supervisor of %s: %w", owner, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(startsWithin); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if _, err := call(owner, Request{Op: OpStatus}); !errors.Is(err, rundir.ErrNone) {
			return err
		}
		select {
		case err := <-ended:
			why, _ := io.ReadAll(io.NewSectionReader(said, 0, 1000))
			return fmt.Errorf("the supervisor of %s ended at once (%v): %q", owner, err, why)
		default:
		}
	}
	return fmt.Errorf("the supervisor of %s did not start within %v", owner, startsWithin)
}

// memoryFile is a file without a name: a process that outlives its reader can go
// on writing to it, as it could not to a pipe.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
