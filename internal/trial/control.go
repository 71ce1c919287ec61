package trial

import "strings"

// controlPrefix begins the nodes as which what keeps a chain as it is is observed. No function is called so.
const controlPrefix = "_control:"

// SupervisorNode is the supervisor of the chain's programs.
const SupervisorNode = controlPrefix + "supervisor"

// EngineNode is an engine of the chain's containers.
func EngineNode(name string) string { return controlPrefix + name }

// OfControl tells whether a process keeps the chain as it is.
func (p ProcessUse) OfControl() bool { return strings.HasPrefix(p.Node, controlPrefix) }

// OfSupervisor tells whether it is the supervisor.
func (p ProcessUse) OfSupervisor() bool { return p.Node == SupervisorNode }
