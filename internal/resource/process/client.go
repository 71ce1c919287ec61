package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// answersWithin is how long a supervisor may take: ending a program takes a while.
const answersWithin = 20 * time.Second

// call asks the owner's supervisor. One that is about to end hangs up; then there
// is none, once it has.
func call(owner string, r Request) (Reply, error) {
	for deadline := time.Now().Add(endsWithin); ; time.Sleep(5 * time.Millisecond) {
		c, err := rundir.Dial(Address(owner))
		if err != nil {
			return Reply{}, err
		}
		reply, err := ask(c, owner, r)
		_ = c.Close()
		if !hungUp(err) || time.Now().After(deadline) {
			return reply, err
		}
	}
}

func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}

func ask(c rundir.Conn, owner string, r Request) (reply Reply, err error) {
	_ = c.SetDeadline(time.Now().Add(answersWithin))
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return reply, fmt.Errorf("ask the supervisor of %s: %w", owner, err)
	}
	if err := json.NewDecoder(c).Decode(&reply); err != nil {
		return reply, fmt.Errorf("the supervisor of %s (process %d) does not answer: %w", owner, c.PID, err)
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	return reply, nil
}

// Statuses of the owner's programs; none when no supervisor runs.
func Statuses(owner string) ([]Status, error) {
	programs, _, err := Known(owner)
	return programs, err
}

// Known is what the owner's supervisor knows of all its programs, and of the functions that it watches over; none where there is no supervisor.
func Known(owner string) (programs []Status, watched []Health, err error) {
	reply, err := call(owner, Request{Op: OpStatus})
	if errors.Is(err, rundir.ErrNone) {
		return nil, nil, nil
	}
	return reply.Programs, reply.Health, err
}

// Relieve the owner's supervisor where it is of another version of nfchain, which leaves out parts of what it is told. What it
// keeps running goes on, and is taken over by the next one. None running is success.
func Relieve(owner string) (relieved bool, err error) {
	reply, err := call(owner, Request{Op: OpStatus})
	if errors.Is(err, rundir.ErrNone) || err == nil && reply.Version == Version {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, Kill(owner)
}

// Kill the owner's supervisor. What it keeps running goes on, and is taken over by the next one. None running is success.
func Kill(owner string) error {
	for deadline := time.Now().Add(endsWithin); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		c, err := rundir.Dial(Address(owner))
		if errors.Is(err, rundir.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		fd, err := unix.PidfdOpen(c.PID, 0)
		_ = c.Close()
		switch {
		case errors.Is(err, unix.ESRCH):
		case err != nil: // as of one that cannot be seen from here
			return fmt.Errorf("kill the supervisor of %s (process %d): %w", owner, c.PID, err)
		default:
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			_ = unix.Close(fd)
		}
	}
	return fmt.Errorf("the supervisor of %s does not end", owner)
}

// endsWithin is how long a supervisor may take to go, with its programs.
const endsWithin = 15 * time.Second

// Stop ends the owner's supervisor and its programs, and waits for the
// supervisor's end, also that of one which only begins, or was asked to end by
// somebody who was killed. One that does not answer is killed; its programs are found by
// their namespaces. None running is success.
func Stop(owner string) error {
	for deadline := time.Now().Add(endsWithin); ; time.Sleep(5 * time.Millisecond) {
		if err := stopListening(owner); err != nil {
			return err
		}
		if none, err := noneLives(owner); none || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return killLiving(owner)
		}
	}
}

// stopListening stops the one that listens, if any does.
func stopListening(owner string) error {
	c, err := rundir.Dial(Address(owner))
	if errors.Is(err, rundir.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if c.PID == os.Getpid() {
		_, err = ask(c, owner, Request{Op: OpStop})
		return err
	}
	fd, err := unix.PidfdOpen(c.PID, 0)
	if err != nil {
		return nil // gone meanwhile
	}
	defer func() { _ = unix.Close(fd) }()
	_, err = ask(c, owner, Request{Op: OpStop})
	if (err == nil || hungUp(err)) && netns.Ended(fd, endsWithin) {
		return nil
	}
	_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	if !netns.Ended(fd, endsWithin) {
		return fmt.Errorf("the supervisor of %s (process %d) does not end", owner, c.PID)
	}
	return nil
}
