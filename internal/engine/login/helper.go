package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/docker/docker-credential-helpers/client"
	"github.com/docker/docker-credential-helpers/credentials"
)

// tokenUser is the name under which such programs keep a token.
const tokenUser = "<token>"

// ask the program that keeps logins for that to a registry, which it may not have.
func ask(ctx context.Context, suffix, address string, takes time.Duration) (Login, error) {
	ctx, stop := context.WithTimeout(ctx, takes)
	defer stop()
	name := "docker-credential-" + suffix
	asked := &helper{}
	kept, err := client.Get(func(args ...string) client.Program {
		asked.Cmd = exec.CommandContext(ctx, name, args...)
		asked.WaitDelay = time.Second // what it has started may hold open what it writes to
		return asked
	}, address)
	byHand := fmt.Sprintf("(echo %s | %s get)", address, name)
	switch {
	case credentials.IsErrCredentialsNotFound(err):
		return Login{}, nil
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Login{}, fmt.Errorf("%s has not answered within %v; see what it waits for %s", name, takes, byHand)
	case errors.Is(asked.wrong, exec.ErrNotFound):
		return Login{}, fmt.Errorf("there is no program %s in PATH; install it, or log in again", name)
	case asked.wrong != nil:
		return Login{}, fmt.Errorf("%s failed: %w; see what it says %s", name, asked.wrong, byHand)
	case err != nil:
		return Login{}, fmt.Errorf("%s answers as no such program does: %w; see what it says %s", name, err, byHand)
	case kept.Username == tokenUser:
		return Login{Token: kept.Secret, From: name}, nil
	case kept.Username == "" || kept.Secret == "":
		return Login{}, nil
	}
	return Login{Username: kept.Username, Password: kept.Secret, From: name}, nil
}

// helper is such a program, run once.
type helper struct {
	*exec.Cmd
	// wrong is how it failed, without anything that it may tell of a login.
	wrong error
}

// Input implements client.Program.
func (h *helper) Input(in io.Reader) { h.Stdin = in }

// Output implements client.Program.
func (h *helper) Output() ([]byte, error) {
	out, err := h.Cmd.Output()
	h.wrong = err
	if err == nil || credentials.IsErrCredentialsNotFoundMessage(string(out)) {
		return out, err
	}
	// Errors are written to standard output, too, and a login as JSON.
	said := bytes.TrimSpace(out)
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && len(said) == 0 {
		said = bytes.TrimSpace(ended.Stderr)
	}
	if line, _, _ := strings.Cut(string(said), "\n"); line != "" && !strings.Contains(string(said), "{") {
		h.wrong = fmt.Errorf("%w: %s", err, line)
	}
	return nil, err
}
