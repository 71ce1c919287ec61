package v1alpha1

import (
	"strings"
	"testing"
)

// TestSeccomp: a profile is read in the form of OCI's and of Docker's, and what is wrong in it is told with its place.
func TestSeccomp(t *testing.T) {
	for text, want := range map[string]string{
		`{"defaultAction": "SCMP_ACT_ALLOW"}`: "",
		`{"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1, "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}]}`: "",
		`{"defaultAction": "SCMP_ACT_ERRNO", "archMap": [], "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_BPF"]}, "excludes": {}, "comment": "x"}]}`:                                     "",
		`{}`:                                 `defaultAction "" is none`,
		`{"defaultAction": "ALLOW"}`:         `defaultAction "ALLOW" is none`,
		`{"defaultAction": "SCMP_ACT_ALOW"}`: `did you mean "SCMP_ACT_ALLOW"?`,
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscall": []}`:                                                                      `unknown field "syscall"`,
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"action": "SCMP_ACT_LOG"}]}`:                                           `syscalls[0] has no names`,
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["x"]}]}`:                                                     `syscalls[0].action "" is none`,
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["x"], "action": "SCMP_ACT_LOG", "args": {"index": 0}}]}`:     `syscalls[0].args: json: cannot unmarshal object`,
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["x"], "action": "SCMP_ACT_LOG", "args": [{"index": "0"}]}]}`: `syscalls[0].args: json: cannot unmarshal string`,
		`{"defaultAction": "SCMP_ACT_ALLOW"} {}`:                                                                                  `something is behind it`,
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["x"], "action": "SCMP_ACT_LOG", "args": 1`:                   `unexpected EOF`,
	} {
		_, err := ParseSeccomp([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["a"], "action": "SCMP_ACT_LOG", "includes": {}, "excludes": null}]}`:        "",
		`{"defaultAction": "SCMP_ACT_ALLOW", "archMap": []}`:                                                                                     "archMap",
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["a"], "action": "SCMP_ACT_LOG"}, {"name": "a", "action": "SCMP_ACT_LOG"}]}`: "syscalls[1].name",
		`{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["a"], "action": "SCMP_ACT_LOG", "excludes": {"caps": ["CAP_SYS_ADMIN"]}}]}`: "syscalls[0].excludes",
	} {
		p, err := ParseSeccomp([]byte(text))
		if got := p.OfDocker(); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
