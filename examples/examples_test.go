// Package examples holds chains to copy. Its tests bring each up for real, send
// packets through it and take it down again.
package examples

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function/command"
	"nfchain.dev/nfchain/internal/function/firewall"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/run"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// decoded are the examples by their files.
func decoded(t *testing.T) map[string]*api.File {
	t.Helper()
	names, err := filepath.Glob("*.yaml")
	if err != nil || len(names) < 2 {
		t.Fatalf("found %v, %v", names, err)
	}
	files := map[string]*api.File{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if files[name], err = registry.Words().Decode(name, text); err != nil {
			t.Fatal(err)
		}
		for _, i := range files[name].LocalImages() {
			if i.Of.Image, err = filepath.Abs(i.Of.Image); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

func TestEveryExampleCarriesTraffic(t *testing.T) {
	nstest.Root(t)
	nfchain := build(t)
	for name, file := range decoded(t) {
		if len(file.Chains) == 0 {
			continue // an experiment
		}
		if len(file.Chains[0].Spec.Brought()) > 0 {
			continue // nothing goes through it before containers come (TestCNI)
		}
		if name == inContainers {
			continue // its images take minutes to build (TestVideoPlaysInContainers)
		}
		if name == intrusions || name == prevention {
			continue // TestIntrusionsAreFound, TestIntrusionsArePrevented
		}
		t.Run(name, func(t *testing.T) {
			if contained(file) {
				nstest.Docker(t)
				nstest.BusyboxImage(t)
			}
			file = unique(t, file)
			carries(t, nfchain, file)
			if name == "own-core.yaml" {
				hasCore(t, nfchain.show(t, file.Chains[0].Metadata.Name), "hello")
			}
		})
	}
}

// hasCore checks that what a function runs may be on one CPU and no other.
func hasCore(t *testing.T, state run.State, function string) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", node(state, function).Program.PID))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^Cpus_allowed_list:\t\d+$`).Match(status) {
		t.Errorf("%s has more than one CPU:\n%s", function, status)
	}
}

// contained tells whether functions of a file are Docker's containers.
func contained(f *api.File) bool {
	return slices.ContainsFunc(f.Chains, func(c api.Chain) bool {
		return slices.ContainsFunc(c.Spec.Functions, func(f api.Function) bool { return cmp.Or(f.Runtime, c.Spec.Runtime) == api.RuntimeDocker })
	})
}

// TestOwnFunction: a function of the user's answers in the chain, by its name.
func TestOwnFunction(t *testing.T) {
	nstest.Docker(t)
	nstest.BusyboxImage(t)
	nfchain, file := build(t), unique(t, decoded(t)["own-function.yaml"])
	name := file.Chains[0].Metadata.Name
	path := write(t, file)
	requires(t, nfchain, path)
	t.Cleanup(func() { nfchain.run(t, "down", name) })
	nfchain.run(t, "up", path, "--wait")
	if out := nfchain.run(t, "exec", name, "client", "--", "busybox", "wget", "-q", "-O", "-", "http://hello:8080/"); !strings.HasPrefix(out, "hello from a function") {
		t.Errorf("it says %q", out)
	}
}

// TestNamesAreOfOneExample, so that one that is up is not changed into another.
func TestNamesAreOfOneExample(t *testing.T) {
	first := map[string]string{}
	for name, file := range decoded(t) {
		for _, c := range file.Chains {
			if other := first[c.Metadata.Name]; other != "" {
				t.Errorf("%s and %s both have a chain %s", other, name, c.Metadata.Name)
			}
			first[c.Metadata.Name] = name
		}
	}
}

// TestTenantsShare a firewall, which is one namespace less, and reach their own ends.
func TestTenantsShare(t *testing.T) {
	nstest.Root(t)
	nfchain := build(t)
	var paths, names []string
	comment := nstest.Owner(t) // so that no other test's function is alike
	for _, name := range []string{"tenant-shop.yaml", "tenant-bank.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := registry.Words().Decode(name, text)
		if err != nil {
			t.Fatal(err)
		}
		file = unique(t, file)
		options := file.Chains[0].Spec.Functions[0].Options.(*firewall.Options)
		options.Rules.List[0].Comment = comment
		paths, names = append(paths, write(t, file)), append(names, file.Chains[0].Metadata.Name)
	}
	requires(t, nfchain, paths[0])
	shared := struct {
		Saved  int `json:"namespaces_saved"`
		Shared []struct {
			Name string `json:"name"`
		} `json:"shared"`
	}{}
	out := nfchain.run(t, append([]string{"plan", "--share", "-o", "json"}, paths...)...)
	if err := json.Unmarshal([]byte(out), &shared); err != nil || shared.Saved != 1 || len(shared.Shared) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		nfchain.run(t, append([]string{"down"}, names...)...)
		nfchain.run(t, "down", shared.Shared[0].Name)
	})
	nfchain.run(t, append([]string{"up", "--share", "--wait"}, paths...)...)
	for _, name := range names {
		nfchain.run(t, "exec", name, "client", "--", "ping", "-4", "-c", "1", "-W", "5", "server")
		nfchain.run(t, "exec", name, "server", "--", "ping", "-6", "-c", "1", "-W", "5", "client")
	}
}

// program is the nfchain that the test has built.
type program string

func build(t *testing.T) program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nfchain")
	cmd := exec.Command("go", "build", "-o", path, "../cmd/nfchain")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build nfchain: %v\n%s", err, out)
	}
	return program(path)
}

func (p program) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(string(p), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("nfchain %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// unique gives an example's chains, functions and namespaces names that nobody
// else has, and makes the namespaces that are to exist.
func unique(t *testing.T, f *api.File) *api.File {
	names := map[string]string{}
	for i := range f.Functions {
		old := f.Functions[i].Metadata.Name
		names[old] = nstest.Owner(t)
		f.Functions[i].Metadata.Name = names[old]
	}
	for i := range f.Chains {
		c := &f.Chains[i]
		c.Metadata.Name = nstest.Owner(t)
		for j := range c.Spec.Functions {
			if ref := &c.Spec.Functions[j].Ref; *ref != "" {
				*ref = names[*ref]
			}
		}
		for j := range c.Spec.Endpoints {
			if ns := &c.Spec.Endpoints[j].Namespace; *ns != "" {
				*ns = nstest.Namespace(t)
			}
		}
	}
	return f
}

// write puts documents into a file of their own.
func write(t *testing.T, f *api.File) string {
	t.Helper()
	var documents []string
	add := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(text))
	}
	for _, d := range f.Functions {
		add(d)
	}
	for _, d := range f.Chains {
		add(d)
	}
	path := filepath.Join(t.TempDir(), "example.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(documents, "\n---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// carries brings a file up, twice, crosses each of its chains both ways in each
// address family, and takes everything down again.
func carries(t *testing.T, nfchain program, f *api.File) {
	path := write(t, f)
	requires(t, nfchain, path)
	installed(t, f)
	t.Cleanup(func() {
		for _, c := range f.Chains {
			nfchain.run(t, "down", c.Metadata.Name)
		}
		for _, fn := range f.Functions {
			nfchain.run(t, "down", fn.Metadata.Name)
		}
		gone(t, f)
	})
	nfchain.run(t, "up", path, "--wait")
	if out := nfchain.run(t, "up", path); strings.Count(out, "nothing changed") != len(f.Chains)+len(f.Functions) {
		t.Errorf("a second up changes something:\n%s", out)
	}
	for _, c := range f.Chains {
		west, east := c.Spec.Endpoints[0].Name, c.Spec.Endpoints[1].Name
		for family, pool := range map[string]string{"-4": c.Spec.Addresses.IPv4, "-6": c.Spec.Addresses.IPv6} {
			if pool == api.None {
				continue
			}
			nfchain.run(t, "exec", c.Metadata.Name, west, "--", "ping", family, "-c", "1", "-W", "20", east)
			nfchain.run(t, "exec", c.Metadata.Name, east, "--", "ping", family, "-c", "1", "-W", "20", west)
		}
	}
}

// requires skips an example that this machine is proven not to be able to run.
func requires(t *testing.T, nfchain program, path string) {
	t.Helper()
	var plan struct {
		Requires []string `json:"requires"`
	}
	if err := json.Unmarshal([]byte(nfchain.run(t, "plan", path, "-o", "json")), &plan); err != nil {
		t.Fatal(err)
	}
	nstest.Require(t, append(plan.Requires, "tool.ping")...)
}

// installed wants the programs of an example to be there, as what installs the tests' packages has them.
func installed(t *testing.T, f *api.File) {
	t.Helper()
	for _, c := range f.Chains {
		for _, fn := range c.Spec.Functions {
			o, is := fn.Options.(*command.Options)
			if !is || len(o.Args) == 0 {
				continue
			}
			if _, err := exec.LookPath(o.Args[0]); err != nil {
				if o.Args[0] == "suricata" { // of a suite of packages that not every machine gets
					t.Skipf("function %s: %v", fn.Name, err)
				}
				t.Fatalf("function %s: %v; `make packages-test` installs it", fn.Name, err)
			}
		}
	}
}

// gone checks that no namespace of the file's is left but those it was given.
func gone(t *testing.T, f *api.File) {
	left, err := netns.List()
	if err != nil {
		t.Error(err)
	}
	for _, name := range left {
		for _, c := range f.Chains {
			if strings.HasPrefix(name, fmt.Sprintf("nfchain.%s.", c.Metadata.Name)) {
				t.Errorf("namespace %s is left", name)
			}
		}
	}
}
