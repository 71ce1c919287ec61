package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/registry"
)

// TestFunctionShow: a kind, or an image that comes with nfchain, by its path or, where no kind is called so, by the name of its directory; what is like none is refused with what is near.
func TestFunctionShow(t *testing.T) {
	for asked, want := range map[string]string{
		"firewall":         "firewall: filters with nftables or iptables",
		"dpi":              "any: container: {image: NAME}; images/dpi has what it takes",
		"loadbalancer":     "loadbalancer: shares connections out",
		"images/webserver": "images/webserver: A web server",
		"webserver":        "images/webserver: A web server",
		"images/proxy":     "CACHE_MB  256          the memory that what it keeps may take, MiB",
		"shorewall":        "A chain with it, images/shorewall.yaml:",
		"image/proxi":      `there is no kind of function "image/proxi"; did you mean "images/proxy"?`,
		"firewal":          `did you mean "firewall"?`,
		"nothing-like-it":  "`nfchain function ls` lists those there are",
	} {
		said, err := function("show", asked)
		if refused := strings.Contains(want, "did you mean") || strings.Contains(want, "lists those"); !strings.Contains(said, want) || (err != nil) != refused {
			t.Errorf("%s: %v\n%s", asked, err, said)
		}
	}
}

// function runs a command of that name, and gives all that it says.
func function(args ...string) (string, error) {
	var said bytes.Buffer
	a := &app{env: env{args: append([]string{"nfchain", "function"}, args...), stdout: &said, stderr: &said, getenv: func(string) string { return "" }, now: time.Now}}
	root := a.root()
	root.SetArgs(a.args[1:])
	root.SetOut(&said)
	err := root.Execute()
	if err != nil {
		said.WriteString(err.Error())
	}
	return said.String(), err
}

// TestFunctionList: each kind is listed with where it can live, and each image with what it may do, as text and as JSON; what is listed can be shown.
func TestFunctionList(t *testing.T) {
	text, err := function("ls")
	if err != nil {
		t.Fatal(err)
	}
	said, err := function("ls", "-o", "json")
	var all struct {
		SchemaVersion int              `json:"schema_version"`
		Functions     []registry.Kind  `json:"functions"`
		Images        []registry.Image `json:"images"`
	}
	if err != nil || json.Unmarshal([]byte(said), &all) != nil || all.SchemaVersion != 1 || len(all.Functions) < 16 || len(all.Images) < 12 {
		t.Fatalf("%v\n%s", err, said)
	}
	rows := map[string]string{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, " ")
		rows[name] = rest
	}
	listed := func(name, where, does string) {
		t.Helper()
		if row := rows[name]; !strings.Contains(row, " "+where+" ") || !strings.HasSuffix(row, " "+does+"\n") {
			t.Errorf("%s: %q lacks %q or %q", name, row, where, does)
		}
		shown, err := function("show", name, "-o", "json")
		var one struct {
			Kind, Image, Does string
		}
		if err != nil || json.Unmarshal([]byte(shown), &one) != nil || (one.Kind != name && one.Image != name) || one.Does != does {
			t.Errorf("%s is shown as %s, %v", name, shown, err)
		}
	}
	for _, k := range all.Functions {
		listed(k.Name, strings.Join(k.Runtimes, ", "), k.Does)
	}
	for _, i := range all.Images {
		where := strings.Join(i.Capabilities, ", ")
		if where == "" {
			where = "none"
		}
		listed(i.Path, where, i.Does)
	}
	if !strings.Contains(rows["firewall"], "inline, docker, containerd, podman, lxc") || !strings.Contains(rows["images/dpi"], "NET_ADMIN") {
		t.Errorf("what is known to be so is not listed:\n%s", text)
	}
}
