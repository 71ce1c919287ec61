// Package rundir is the directory by which nfchain's processes find each other:
// locks and sockets, in files that nobody but the user that runs nfchain may open.
// (Names of abstract sockets (unix(7)) need no file, but every user of the machine
// may take one first, and so keep a chain from its owner.) The user is root, or root
// of a user namespace, which has a /run of its own. What a killed process leaves here
// binds nobody: the next one takes it over.
package rundir

import "path/filepath"

// Root is the directory. It holds a directory of each chain's own beside the locks.
const Root = "/run/nfchain"

// Of is a chain's directory.
func Of(owner string) string { return filepath.Join(Root, owner) }

// Log is where a function of a chain writes.
func Log(owner, node string) string { return filepath.Join(Of(owner), node+".log") }

// Limits is where it is noted what a container of a chain may use where its engine does not tell.
func Limits(owner, node string) string { return filepath.Join(Of(owner), node+".limits") }

// Asking is the file that names the ready command which an engine may be running for a function of a chain.
func Asking(owner, node string) string { return filepath.Join(Of(owner), node+".asking") }

// Locks is where the locks of chains are.
const Locks = Root + "/.locks"
