// Package passrules is bpf/pass for hops with an inline firewall.
package passrules
