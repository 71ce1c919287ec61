package mark

import "testing"

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		good bool
	}{
		{*Kind{}.Options().(*Options), true}, {Options{Value: 7, Mask: 15}, true}, {Options{Value: 1<<32 - 1, Mask: 1<<32 - 1}, true},
		{Options{Value: 16, Mask: 15}, false}, {Options{Value: 1}, false},
	} {
		if wrong := c.o.Validate(); (len(wrong) == 0) != c.good {
			t.Errorf("%+v: %v", c.o, wrong)
		}
	}
}
