package ovs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// Kind starts and ends the daemons.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	found, err := findAt(p)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	cpus, err := boundTo(p.Owner, found)
	return []resource.Observed{{Key: Spec{}.Key(), Fingerprint: running(runs(found)) + onCPUs(cpus)}}, err
}

// Apply implements resource.Kind. Where one of the pair has died both begin anew, with
// an empty database: what the other still knows is of switches that are no more. Where both
// run they are moved to their CPUs, and the switches stay.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes, func(string) error { return Remove(p.Owner, p.Ref) }, func(s Spec) error { return start(p, s) })
}

// Remove the owner's daemons from a namespace, with their switches, wherever the ports
// are, and their files. Nothing there is success.
func Remove(owner, ref string) error {
	if err := end(func() (map[string][]int, error) { return find(owner, ref) }); err != nil {
		return err
	}
	if err := removeDatapath(owner, ref); err != nil {
		return err
	}
	return RemoveStrays(owner)
}

// RemoveStrays ends what is left of the owner's daemons in a namespace that has no name any
// more, and removes their files. Nothing there is success.
func RemoveStrays(owner string) error {
	if _, err := os.Stat(Dir(owner)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := end(func() (map[string][]int, error) { return strays(owner) }); err != nil {
		return err
	}
	if err := os.RemoveAll(Dir(owner)); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(Dir(owner))) // unless there is more of the owner's
	return nil
}

func start(p resource.Place, s Spec) error {
	found, err := find(p.Owner, p.Ref)
	if err == nil && len(runs(found)) == len(programs) {
		return move(s, found)
	}
	if err != nil {
		return err
	}
	if err := Remove(p.Owner, p.Ref); err != nil {
		return err
	}
	if err := os.MkdirAll(Dir(s.Owner), 0o700); err != nil {
		return err
	}
	if err := s.note(); err != nil {
		return err
	}
	for _, words := range s.steps() {
		if _, err := run(p.Ref, s, "", words...); err != nil {
			return fmt.Errorf("start Open vSwitch: %w", err)
		}
	}
	return nil
}

// takes is how long a program of Open vSwitch's may take, beyond the time-outs of its
// own.
const takes = 90 * time.Second

// run a program in a namespace with the daemons' environment; what it prints comes
// back, and what it complains of is the error.
func run(ref string, s Spec, stdin string, words ...string) (string, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), s.environment()...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cores, _ := api.ParseCPUList(s.CPUs) // none is all
	if err := netns.StartAt(ref, cmd, netns.Seat{Cores: cores}); err != nil {
		return "", err
	}
	late := time.AfterFunc(takes, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		err = fmt.Errorf("no answer within %v", takes)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", fmt.Errorf("%s: %w: %s", words[0], err, strings.Join(strings.Fields(complaint.String()), " "))
	}
	return out.String(), nil
}

// Alive implements resource.Living.
func (Kind) Alive(p resource.Place) error { return alive(p.Owner, p.Ref) }

// alive tells by an error which daemon has ended.
func alive(owner, ref string) error {
	found, err := find(owner, ref)
	if err != nil {
		return err
	}
	return ended(owner, found)
}

// ended tells by an error which daemon is not among those that were found.
func ended(owner string, found map[string][]int) error {
	for _, program := range programs {
		if len(found[program]) == 0 {
			return fmt.Errorf("%s of chain %s has ended%s; `nfchain up` with the chain's file starts it again", program, owner, lastWords(owner, program))
		}
	}
	return nil
}

// lastWords is the last complaint in a daemon's log, if there is one. One that was killed
// says nothing.
func lastWords(owner, program string) (words string) {
	text, _ := os.ReadFile(in(owner, program+".log"))
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "|ERR|") || strings.Contains(line, "|EMER|") {
			words = fmt.Sprintf(" (its log complains: %q)", strings.TrimSpace(line))
		}
	}
	return words
}
