// Package passrules is bpf/pass for hops with an inline firewall.
package passrules

// Object is the program as it was compiled.
func Object() []byte { return _ProgramBytes }
