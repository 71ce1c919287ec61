package dpi

import (
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/process"
)

func TestValidate(t *testing.T) {
	many := make([]string, mostRules)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	for _, c := range []struct {
		options Options
		path    string
		says    string
	}{
		{Options{Block: []string{"BitTorrent", "Tor"}, Mark: map[string]api.Mark{"HTTP": 7}, Flows: 200}, "", ""},
		{Options{Block: []string{"Bit Torrent"}}, "block[0]", "is not the name"},
		{Options{Block: []string{""}}, "block[0]", "is not the name"},
		{Options{Block: []string{"Tor", "tor"}}, "block[1]", "twice"},
		{Options{Mark: map[string]api.Mark{"a=b": 1}}, "mark.a=b", "is not the name"},
		{Options{Mark: map[string]api.Mark{"HTTP": 0}}, "mark.HTTP", "is 0"},
		{Options{Mark: map[string]api.Mark{"HTTP": 1, "http": 2}}, "mark.http", "twice"},
		{Options{Block: []string{"http"}, Mark: map[string]api.Mark{"HTTP": 1}}, "mark.HTTP", "is in block too"},
		{Options{Block: many, Mark: map[string]api.Mark{"HTTP": 1}}, "block", "there are 65 applications"},
		{Options{Flows: 201}, "flows", "0 to 200"},
	} {
		wrong := c.options.Validate()
		switch {
		case c.path == "" && len(wrong) == 0:
		case len(wrong) != 1 || wrong[0].Path != c.path || !strings.Contains(wrong[0].Message, c.says):
			t.Errorf("%+v: %+v; want %s %s", c.options, wrong, c.path, c.says)
		}
	}
}

// TestContribute: the same options are the same program, whatever the order of a map.
func TestContribute(t *testing.T) {
	o := &Options{Block: []string{"BitTorrent", "Tor"}, Mark: map[string]api.Mark{"TLS": 8, "HTTP": 7, "DNS": 1 << 31}, Flows: 5}
	made, err := Kind{}.Contribute(function.Site{Node: "dpi", Namespace: "ns"}, o)
	if err != nil || len(made) != 2 {
		t.Fatal(made, err)
	}
	spec := made[1].Spec.(process.Spec)
	if want := []string{"BLOCK=BitTorrent Tor", "FLOWS=5", "MARK=DNS=0x80000000 HTTP=0x7 TLS=0x8", "TELLS=/srv/told"}; !slices.Equal(spec.Env, want) {
		t.Errorf("%q", spec.Env)
	}
	if spec.Tells != "/srv/told" || spec.Netns != "ns" {
		t.Errorf("%+v", spec)
	}
}

// TestHugepages: glibc is told of them, and of a size where one is given.
func TestHugepages(t *testing.T) {
	for want, r := range map[string]*api.Resources{
		"":                                      {Memory: 1 << 30},
		"GLIBC_TUNABLES=glibc.malloc.hugetlb=2": {Hugepages: 64 << 20},
		"GLIBC_TUNABLES=glibc.malloc.hugetlb=1073741824": {Hugepages: 1 << 30, HugepageSize: 1 << 30},
	} {
		made, err := Kind{}.Contribute(function.Site{Node: "dpi", Namespace: "ns", Resources: r}, &Options{})
		if err != nil {
			t.Fatal(err)
		}
		env := made[1].Spec.(process.Spec).Env
		at := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "GLIBC_TUNABLES=") })
		if want == "" && at >= 0 || want != "" && (at < 0 || env[at] != want) {
			t.Errorf("%+v: %q", r, env)
		}
	}
}
