package v1alpha1

import (
	"reflect"
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "0", "edge-1", "a--b", strings.Repeat("a", 63)} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for name, why := range map[string]string{
		"": "empty", "a b": "a space", "a/b": "a slash", "-a": "starts or ends", "a-": "starts or ends",
		"A": "capital", "a.b": "a '.'", "a\n": `a '\n'`, strings.Repeat("a", 64): "64 characters",
	} {
		if err := CheckName(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: got %v, want %q", name, err, why)
		}
	}
}

func TestParseCPUList(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0,2-3": {0, 2, 3}, "3, 1": {1, 3}, "1-3,2-4,2": {1, 2, 3, 4}, "8191": {8191},
	} {
		if got, err := ParseCPUList(list); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, %v, want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", ",", "0,", "a", "-1", "3-1", "1-", "0-9999", "99999999999", "0x1", "1-2-3"} {
		if got, err := ParseCPUList(list); err == nil {
			t.Errorf("%q was read as %v", list, got)
		}
	}
}

func TestCheckLoad(t *testing.T) {
	c := testCatalogue()
	if problems := c.CheckLoad(DefaultLoad()); len(problems) > 0 {
		t.Errorf("the default load is wrong: %v", problems)
	}
	load := DefaultLoad().With(Load{Flows: 2_000_000, Protocols: []string{"icmp"}, Affinity: "0-"})
	want := []string{"protocols[0]", "flows", "affinity"}
	var got []string
	for _, p := range c.CheckLoad(load) {
		got = append(got, p.Path)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got problems with %v, want %v", got, want)
	}
}
