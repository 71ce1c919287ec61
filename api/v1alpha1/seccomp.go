package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// Unconfined is a container that may make every system call.
const Unconfined = "unconfined"

// SeccompProfile is what a profile says of system calls, in the form of Docker's, of which that of OCI's runtime specification is a part.
type SeccompProfile struct {
	// DefaultAction is for what is in none of Syscalls.
	DefaultAction   string   `json:"defaultAction"`
	DefaultErrnoRet *uint    `json:"defaultErrnoRet,omitempty"`
	Architectures   []string `json:"architectures,omitempty"`
	Flags           []string `json:"flags,omitempty"`
	// ArchMap is Docker's.
	ArchMap          json.RawMessage  `json:"archMap,omitempty"`
	ListenerPath     string           `json:"listenerPath,omitempty"`
	ListenerMetadata string           `json:"listenerMetadata,omitempty"`
	Syscalls         []SeccompSyscall `json:"syscalls,omitempty"`
}

// SeccompSyscall is what is done of some of them.
type SeccompSyscall struct {
	Names    []string        `json:"names"`
	Action   string          `json:"action"`
	ErrnoRet *uint           `json:"errnoRet,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	// Name, Comment, Includes and Excludes are Docker's.
	Name     string          `json:"name,omitempty"`
	Comment  string          `json:"comment,omitempty"`
	Includes json.RawMessage `json:"includes,omitempty"`
	Excludes json.RawMessage `json:"excludes,omitempty"`
}

// seccompActions that there are (seccomp_rule_add(3)).
var seccompActions = []string{"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD", "SCMP_ACT_LOG", "SCMP_ACT_NOTIFY", "SCMP_ACT_TRACE", "SCMP_ACT_TRAP"}

// ParseSeccomp reads a profile.
func ParseSeccomp(text []byte) (p SeccompProfile, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("is not a profile of seccomp: %w", err)
	}
	if d.More() {
		return p, errors.New("is not a profile of seccomp: something is behind it")
	}
	if err := seccompAction(p.DefaultAction); err != nil {
		return p, fmt.Errorf("is not a profile of seccomp: defaultAction %w", err)
	}
	for i, s := range p.Syscalls {
		if len(s.Names) == 0 && s.Name == "" {
			return p, fmt.Errorf("is not a profile of seccomp: syscalls[%d] has no names", i)
		}
		if err := seccompAction(s.Action); err != nil {
			return p, fmt.Errorf("is not a profile of seccomp: syscalls[%d].action %w", i, err)
		}
		if err := s.checkArgs(); err != nil {
			return p, fmt.Errorf("is not a profile of seccomp: syscalls[%d].args: %w", i, err)
		}
	}
	return p, nil
}

// checkArgs wants the arguments that are looked at to be written as engines read them.
func (s SeccompSyscall) checkArgs() error {
	var args []struct {
		Index    uint   `json:"index"`
		Value    uint64 `json:"value"`
		ValueTwo uint64 `json:"valueTwo"`
		Op       string `json:"op"`
	}
	if len(s.Args) == 0 {
		return nil
	}
	return json.Unmarshal(s.Args, &args)
}

func seccompAction(name string) error {
	if slices.Contains(seccompActions, name) {
		return nil
	}
	return fmt.Errorf("%s is none%s", quote(name), nearest.Hint(name, seccompActions))
}

// OfDocker gives what a profile has that is Docker's alone; "" where it has nothing of that.
func (p SeccompProfile) OfDocker() string {
	if p.ArchMap != nil {
		return "archMap"
	}
	for i, s := range p.Syscalls {
		for _, has := range []struct {
			field string
			is    bool
		}{{"name", s.Name != ""}, {"includes", conditional(s.Includes)}, {"excludes", conditional(s.Excludes)}} {
			if has.is {
				return fmt.Sprintf("syscalls[%d].%s", i, has.field)
			}
		}
	}
	return ""
}

// conditional tells whether conditions have any.
func conditional(text json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "{}"}, strings.TrimSpace(string(text)))
}

// SeccompByPath tells whether the profile is given by its path.
func (c *Container) SeccompByPath() bool { return c != nil && ofPath.MatchString(c.Seccomp) }

func (c *Container) checkSeccomp() []FieldProblem {
	var f findings
	switch {
	case c.Seccomp == "", c.Seccomp == Unconfined, c.SeccompByPath():
	case !strings.HasPrefix(c.Seccomp, "{"):
		f.addf("seccomp", "%s is neither %s nor the path of a profile, which begins with ./, ../ or /; leave it out for what the engine allows", quote(c.Seccomp), Unconfined)
	default:
		if _, err := ParseSeccomp([]byte(c.Seccomp)); err != nil {
			f.addf("seccomp", "%v", err)
		}
	}
	return f
}
