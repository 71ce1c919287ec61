package examples

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
)

// Examples with what is installed, each of which is brought up once.
const (
	intrusions = "intrusion-detection.yaml"
	prevention = "intrusion-prevention.yaml"
)

// TestIntrusionsAreFound: what is installed hears what goes by it, and tells what its rules find, and nothing else.
func TestIntrusionsAreFound(t *testing.T) {
	nstest.Root(t)
	nfchain, file := build(t), unique(t, decoded(t)[intrusions])
	carries(t, nfchain, file)
	chain := file.Chains[0].Metadata.Name
	get := func(url string) {
		t.Helper()
		if out := nfchain.run(t, "exec", chain, "client", "--", "busybox", "wget", "-q", "-O", "-", url); out != "from the server\n" {
			t.Fatalf("%s has %q", url, out)
		}
	}
	found := func() int {
		return strings.Count(nfchain.run(t, "logs", chain, "ids"), "a request for a file of passwords")
	}
	get("http://server/")
	if n := found(); n > 0 {
		t.Fatalf("%d requests for a file of passwords are found before there is one", n)
	}
	get("http://server/?file=/etc/passwd")
	for began := time.Now(); found() == 0; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("the request is not found:\n%s", nfchain.run(t, "logs", chain, "ids"))
		}
	}
}

// TestIntrusionsArePrevented: what is in the wire passes on what no rule drops, and nothing else.
func TestIntrusionsArePrevented(t *testing.T) {
	nstest.Root(t)
	nfchain, file := build(t), unique(t, decoded(t)[prevention])
	carries(t, nfchain, file)
	chain := file.Chains[0].Metadata.Name
	get := func(url string) (string, error) {
		out, err := exec.Command(string(nfchain), "exec", chain, "client", "--", "timeout", "3", "busybox", "wget", "-q", "-O", "-", url).Output()
		return string(out), err
	}
	if out, err := get("http://server/"); err != nil || out != "from the server\n" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := get("http://server/?file=/etc/passwd"); err == nil || out != "" {
		t.Errorf("what is to be dropped has %q, %v", out, err)
	}
	if log := nfchain.run(t, "logs", chain, "ips"); !strings.Contains(log, "a request for a file of passwords") {
		t.Errorf("it tells nothing of that:\n%s", log)
	}
	if out, err := get("http://server/"); err != nil || out != "from the server\n" {
		t.Errorf("after that %q, %v", out, err)
	}
}
