// Package entry is what nfchain does as the first process of a container: it waits until the container's network is there, and becomes what the
// container is to run, or does nothing where that is the kernel's work alone.
//
// It does so when it is initialised, before the packages of commands that such a process does not run, whose preparations are most of what a start of
// nfchain costs. Go initialises what needs least first, so that this imports little, and nothing of nfchain's: its test says how little. Whether a
// container waits, and telling it that it need not, is the work of package engine.
package entry

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

const (
	// Program is where nfchain itself is in a container.
	Program = "/.nfchain"
	// Enter is the command that waits for the network and then becomes what the container is to run, and Idle one that does nothing until it
	// is asked to end.
	Enter, Idle = "enter", "idle"
	// Beside is Enter in a network namespace that another container has already.
	Beside = "enter-beside"
	// Hosted is Enter in the machine's own network namespace, where others of all chains may wait: the container's name comes first of what it
	// is given.
	Hosted = "enter-hosted"
	// Gate is where the one waits, a name of the network namespace's (unix(7), abstract), and BesideGate where another does in the same.
	Gate, BesideGate = "@nfchain/gate", "@nfchain/gate-beside"
	// HostedGate is where a container of the name behind it waits in the machine's own.
	HostedGate = "@nfchain/gate-of/"
	// Resting is what the first process of a container is called that waits no more, and has nothing to become.
	Resting = "nfchain-idle"
)

// init does what this process is for, where that is the first of a container, and ends with it.
func init() {
	if len(os.Args) < 2 || os.Args[0] != Program {
		return
	}
	if os.Args[1] == Idle {
		idle()
		os.Exit(0)
	}
	is, ok := gateOf(os.Args)
	if !ok {
		return
	}
	if err := is.enter(); err != nil {
		_, _ = os.Stderr.WriteString("nfchain: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// gate is where a process waits, and what it is to become.
type gate struct {
	at   string
	args []string
	// rootAlone tells that others than root may come there, who are not heeded.
	rootAlone bool
}

// gateOf a command line, which is not ok unless it is of a process that is to wait.
func gateOf(words []string) (is gate, ok bool) {
	if len(words) < 4 || words[2] != "--" {
		return gate{}, false
	}
	switch rest := words[3:]; {
	case words[1] == Enter:
		return gate{at: Gate, args: rest}, true
	case words[1] == Beside:
		return gate{at: BesideGate, args: rest}, true
	case words[1] == Hosted && len(rest) > 1:
		return gate{HostedGate + rest[0], rest[1:], true}, true
	}
	return gate{}, false
}

// enter waits until the container's network is there, and becomes the program. What keeps it from that is told to whoever said so, and to
// whoever reads what the container writes. It comes back without an error where there was nothing to become, and it was asked to end.
func (is gate) enter() error {
	c, err := is.heard()
	if err != nil {
		return &os.PathError{Op: "wait for the network at", Path: is.at, Err: err}
	}
	if slices.Equal(is.args, []string{Program, Idle}) && rest() == nil { // which it is already, and need not become
		_ = syscall.Close(c)
		idle()
		return nil
	}
	path, err := lookUp(is.args[0])
	if err == nil {
		err = &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, is.args, os.Environ())} // which closes what is open
	}
	_, _ = syscall.Write(c, []byte(err.Error()))
	_ = syscall.Close(c)
	return err
}

// heard is the connection of the first who says that the network is there; of root's processes alone where others could. A container in the
// machine's own network namespace has its users, too, so that root is called there as here, unless the engine gives it a user namespace.
func (is gate) heard() (int, error) {
	listener, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		err = syscall.Bind(listener, &syscall.SockaddrUnix{Name: is.at})
	}
	if err == nil {
		err = syscall.Listen(listener, syscall.SOMAXCONN)
	}
	if err != nil {
		return 0, err
	}
	for {
		c, _, err := syscall.Accept4(listener, syscall.SOCK_CLOEXEC)
		switch {
		case err == syscall.EINTR || err == syscall.ECONNABORTED:
		case err != nil:
			return 0, err
		case !is.rootAlone || ofRoot(c):
			return c, syscall.Close(listener)
		default:
			_ = syscall.Close(c)
		}
	}
}

// ofRoot tells whether root's process connected.
func ofRoot(c int) bool {
	who, err := syscall.GetsockoptUcred(c, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	return err == nil && who.Uid == 0
}

// rest tells others that this process waits no more.
func rest() error { return os.WriteFile("/proc/self/comm", []byte(Resting), 0) }

// idle does nothing until it is asked to end. What else ends in the container is let go of.
func idle() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}
