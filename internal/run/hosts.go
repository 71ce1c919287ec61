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
	var lines []process.HostLine
	for _, h := range p.Hosts(node) {
		lines = append(lines, process.HostLine(h))
	}
	return WriteHosts(p.Chain, node, lines)
}

// WriteHosts writes a node's hosts file, whole or not at all.
func WriteHosts(owner, node string, lines []process.HostLine) (string, error) {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\n", l.Address, l.Name)
	}
	return writeState(owner, node+".hosts", b.String())
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
	return writeState(owner, s.Node+".own", string(text))
}

// writeState writes a file beside the chain's, whole or not at all, and gives its path.
func writeState(owner, name, text string) (string, error) {
	path := filepath.Join(deploy.StateDir(owner), name)
	if was, err := os.ReadFile(path); err == nil && string(was) == text {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	part, err := os.CreateTemp(filepath.Dir(path), name+".*")
	if err != nil {
		return "", err
	}
	_, err = part.WriteString(text)
	err = errors.Join(err, part.Chmod(0o644), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return path, err
}
