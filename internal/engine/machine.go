package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"sync"
)

// machine is what this machine's containers have for a label: a sum of its number (machine-id(5)), which is not to be told as it is, or
// of its name where it has none.
var machine = sync.OnceValue(func() string {
	text, err := os.ReadFile("/etc/machine-id")
	id := strings.TrimSpace(string(text))
	if err != nil || id == "" {
		name, _ := os.Hostname()
		id = "called " + name
	}
	sum := sha256.Sum256([]byte("nfchain " + id))
	return hex.EncodeToString(sum[:8])
})

// labels that a container has.
func (w Wanted) labels() map[string]string {
	labels := map[string]string{labelOwner: w.Owner, labelNode: w.Node, labelDigest: w.Digest, labelMachine: machine()}
	if w.Network != "" {
		labels[labelNetwork] = w.Network
	}
	if w.Beside != "" {
		labels[labelBeside] = w.Beside
	}
	if w.Limits.PageBytes > 0 {
		labels[labelPages] = strconv.FormatUint(w.Limits.PageBytes, 10)
	}
	return labels
}

// label a container as these do, unless they are not of this machine.
func (c *Container) label(labels map[string]string) {
	if labels[labelMachine] == machine() {
		c.Owner, c.Node, c.Digest, c.Beside = labels[labelOwner], labels[labelNode], labels[labelDigest], labels[labelBeside]
		c.pages = labels[labelPages]
		c.Hosted = labels[labelNetwork] == HostNetwork
	}
}
