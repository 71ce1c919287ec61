package plan_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
)

// TestWarnsOfAnotherMTU of an interface that an endpoint takes in, and of no other.
func TestWarnsOfAnotherMTU(t *testing.T) {
	const spec = "mtu: 9000\nendpoints: [{name: wan, interface: eth7}, {name: lan, interface: eth8}]\n"
	for mtu, want := range map[int]string{
		1400:  "endpoint wan: the MTU of interface eth7 is 1400, and the chain's is 9000; packets of more than 1400 bytes are cut up there",
		65535: "endpoint wan: the MTU of interface eth7 is 65535, and the chain's is 9000; packets of more than 9000 bytes are cut up there",
		9000:  "",
	} {
		p := made(t, spec, plan.Facts{MTUs: map[string]int{"eth7": mtu, "eth8": 9000}}, plan.Options{})
		if text := strings.Join(p.Warnings, "\n"); !strings.HasPrefix(text, want) || want == "" && text != "" || len(p.Warnings) > 1 {
			t.Errorf("of %d it warns %q", mtu, p.Warnings)
		}
		if told := strings.Contains(p.Text(), "\nwarning: "+want); want != "" && !told || want == "" && strings.Contains(p.Text(), "warning") {
			t.Errorf("of %d it says\n%s", mtu, p.Text())
		}
	}
}
