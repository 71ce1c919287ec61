package ovs

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// portPrefix begins the names of ports that stand for a node's interface.
const portPrefix = "ovs"

// PortName of a node's interface on its switch. It follows from the node's name, so that
// a change elsewhere in the chain leaves it alone, and fits an interface's 15 letters.
func PortName(node, device string) string { return portPrefix + digest(12, node, device) }

// InternalName of a node's interface that is a switch's own and whose name cannot change: the
// kernel's datapath knows a port by it. It is the switches' namespace where it is made, so that
// no two of a chain are alike.
func InternalName(node, device string) string {
	return device + "-" + digest(15-len(device)-1, node, device)
}

// SwitchName of the switch between two nodes' interfaces.
func SwitchName(words ...string) string { return "sw" + digest(10, words...) }

func digest(letters int, words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "/")))
	return hex.EncodeToString(sum[:])[:letters]
}
