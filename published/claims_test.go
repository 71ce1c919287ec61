package published

import (
	"regexp"
	"slices"
	"testing"
)

func TestClaimsAreWhole(t *testing.T) {
	kinds := []string{"order", "ratio", "flat", "rises", "shape", "value", "function"}
	id := regexp.MustCompile(`^[a-z]+[0-9]+/[a-z0-9.-]+$`)
	seen := map[string]bool{}
	for _, c := range Claims() {
		if !id.MatchString(c.ID) || seen[c.ID] {
			t.Errorf("%q is no id, or there twice", c.ID)
		}
		seen[c.ID] = true
		if c.At == "" || c.Text == "" || !slices.Contains(kinds, c.Is) || c.NeedsText() == "" {
			t.Errorf("%s is not whole: %+v", c.ID, c)
		}
	}
	if len(seen) < 70 {
		t.Errorf("there are %d claims: the catalogue is not read", len(seen))
	}
	if source := Source("livi2016/fig7-first"); source != "livi2016" {
		t.Errorf("the source is %q", source)
	}
	for id, whole := range map[string]string{"livi2016/fig9-flows:udp": "livi2016/fig9-flows", "livi2016/fig7-first": "livi2016/fig7-first"} {
		if Whole(id) != whole || !seen[whole] {
			t.Errorf("%s is whole as %q", id, Whole(id))
		}
	}
}

func TestNumbersAreRead(t *testing.T) {
	for _, c := range Claims() {
		if c.ID == "livi2016/fig1-peak" {
			if v := c.Numbers["zerocopy_gbps"]; v != 154.8 {
				t.Errorf("zerocopy_gbps is %v", v)
			}
			return
		}
	}
	t.Error("livi2016/fig1-peak is not there")
}

func TestIDsAreInNaturalOrder(t *testing.T) {
	ids := []string{"livi2016/fig11", "zhao2017/fig3", "livi2016/fig5", "livi2016/fig1", "livi2016/fig10", "livi2016/future-mix", "ocansey2017/table-5.2", "ocansey2017/table-5.1"}
	slices.SortFunc(ids, compare)
	want := []string{"livi2016/fig1", "livi2016/fig5", "livi2016/fig10", "livi2016/fig11", "livi2016/future-mix", "ocansey2017/table-5.1", "ocansey2017/table-5.2", "zhao2017/fig3"}
	if !slices.Equal(ids, want) {
		t.Errorf("%q", ids)
	}
	if !slices.IsSortedFunc(IDs(), compare) || !slices.Contains(Sources(), "livi2016") {
		t.Errorf("%q of %q", IDs(), Sources())
	}
}
