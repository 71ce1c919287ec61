package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestFunctionShow: a kind, or an image that comes with nfchain, by its path or, where no kind is called so, by the name of its directory; what is like none is refused with what is near.
func TestFunctionShow(t *testing.T) {
	for asked, want := range map[string]string{
		"firewall":         "firewall: filters with nftables or iptables",
		"dpi":              "any: container: {image: NAME}; images/dpi has what it takes",
		"loadbalancer":     "loadbalancer: shares connections out",
		"images/webserver": "images/webserver: A web server",
		"webserver":        "images/webserver: A web server",
		"shorewall":        "A chain with it, images/shorewall.yaml:",
		"image/proxi":      `there is no kind of function "image/proxi"; did you mean "images/proxy"?`,
		"firewal":          `did you mean "firewall"?`,
		"nothing-like-it":  "`nfchain function ls` lists those there are",
	} {
		var said bytes.Buffer
		a := &app{env: env{args: []string{"nfchain", "function", "show", asked}, stdout: &said, stderr: &said, getenv: func(string) string { return "" }, now: time.Now}}
		root := a.root()
		root.SetArgs(a.args[1:])
		root.SetOut(&said)
		err := root.Execute()
		if err != nil {
			said.WriteString(err.Error())
		}
		if refused := strings.Contains(want, "did you mean") || strings.Contains(want, "lists those"); !strings.Contains(said.String(), want) || (err != nil) != refused {
			t.Errorf("%s: %v\n%s", asked, err, said.String())
		}
	}
}
