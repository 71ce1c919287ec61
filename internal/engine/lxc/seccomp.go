package lxc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
)

// Seccomp is a profile as LXC has it, in the second version of its format. An error names what that has no words for.
func Seccomp(p *specs.LinuxSeccomp) (string, error) {
	var text strings.Builder
	first, err := action(p.DefaultAction, p.DefaultErrnoRet)
	if err != nil {
		return "", fmt.Errorf("defaultAction %w", err)
	}
	if first == allowed {
		fmt.Fprint(&text, "2\ndenylist\n[all]\n")
	} else {
		fmt.Fprintf(&text, "2\nallowlist %s\n[all]\n", first)
	}
	for i, rule := range p.Syscalls {
		does, err := action(rule.Action, rule.ErrnoRet)
		if err != nil {
			return "", fmt.Errorf("syscalls[%d].action %w", i, err)
		}
		if does == first { // which no rule may say again
			continue
		}
		when, err := conditions(rule.Args)
		if err != nil {
			return "", fmt.Errorf("syscalls[%d].args %w", i, err)
		}
		for _, name := range rule.Names {
			fmt.Fprintf(&text, "%s %s%s\n", name, does, when)
		}
	}
	return text.String(), nil
}

const allowed = "allow"

// unsaid is what a system call that is refused gives where a profile does not say: EPERM.
const unsaid = 1

// action is what is done about a system call.
func action(a specs.LinuxSeccompAction, number *uint) (string, error) {
	switch a {
	case specs.ActAllow:
		return allowed, nil
	case specs.ActKill, specs.ActKillThread:
		return "kill", nil
	case specs.ActTrap:
		return "trap", nil
	case specs.ActErrno:
		gives := uint(unsaid)
		if number != nil {
			gives = *number
		}
		return fmt.Sprintf("errno %d", gives), nil
	}
	return "", fmt.Errorf("is %s, and LXC has SCMP_ACT_ALLOW, SCMP_ACT_ERRNO, SCMP_ACT_KILL and SCMP_ACT_TRAP", a)
}

// compared is how LXC compares arguments.
var compared = []specs.LinuxSeccompOperator{specs.OpNotEqual, specs.OpLessThan, specs.OpLessEqual, specs.OpEqualTo, specs.OpGreaterEqual, specs.OpGreaterThan}

// conditions of a rule, all of which are to be true.
func conditions(args []specs.LinuxSeccompArg) (string, error) {
	var all []string
	for _, a := range args {
		switch {
		case slices.Contains(compared, a.Op):
			all = append(all, fmt.Sprintf(" [%d,%d,%s]", a.Index, a.Value, a.Op))
		case a.Op == specs.OpMaskedEqual: // the value is the mask, and the second what is to be left
			all = append(all, fmt.Sprintf(" [%d,%d,%s,%d]", a.Index, a.ValueTwo, a.Op, a.Value))
		default:
			return "", fmt.Errorf("has %q, which LXC has not", a.Op)
		}
	}
	return strings.Join(all, ""), nil
}
