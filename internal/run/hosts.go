package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
)

// HostsFile writes the names that resolve in a node and gives the file's path.
func HostsFile(p *plan.Plan, node string) (string, error) {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for _, h := range p.Hosts(node) {
		fmt.Fprintf(&b, "%s %s\n", h.Address, h.Name)
	}
	return writeState(p.Chain, node+".hosts", b.String(), 0o644)
}

// WriteOwn writes what a program has for itself, and gives the file's path; "" where it has nothing.
func WriteOwn(owner string, s process.Spec) (string, error) {
	if len(s.Scratch) == 0 {
		return "", nil
	}
	text, err := json.Marshal(netns.Own{Scratch: s.Scratch, Files: s.Files})
	if err != nil {
		return "", err
	}
	return writeState(owner, s.Node+".own", string(text), 0o600) // there may be secrets in it
}

// writeState writes a file beside the chain's, whole or not at all, and gives its path.
func writeState(owner, name, text string, mode os.FileMode) (string, error) {
	path := filepath.Join(deploy.StateDir(owner), name)
	if was, err := os.ReadFile(path); err == nil && string(was) == text {
		return path, os.Chmod(path, mode)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	part, err := os.CreateTemp(filepath.Dir(path), name+".*")
	if err != nil {
		return "", err
	}
	_, err = part.WriteString(text)
	err = errors.Join(err, part.Chmod(mode), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return path, err
}
