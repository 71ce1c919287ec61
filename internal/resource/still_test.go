package resource_test

import (
	"errors"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
)

// TestOnce: inside a place where nothing is changed what was told once is not asked again, but for errors; elsewhere it is.
func TestOnce(t *testing.T) {
	type key struct{ n int }
	nstest.Root(t)
	h := nstest.Open(t, nstest.Namespace(t))
	asked := 0
	ask := func(p resource.Place, n int, err error) {
		t.Helper()
		got, failed := resource.Once(p, key{n}, func() (int, error) {
			asked++
			return 10 * n, err
		})
		if failed != err || got != 10*n {
			t.Errorf("%d is told as %d, %v", n, got, failed)
		}
	}
	err := resource.Still(h, nstest.Owner(t), nil).Within(func(p resource.Place) error {
		ask(p, 1, errors.New("not yet"))
		for n := range 4 {
			ask(p, n%2, nil)
		}
		return nil
	})
	if err != nil || asked != 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	for range 2 {
		ask(resource.At(h, nstest.Owner(t)), 1, nil)
	}
	if asked != 5 {
		t.Errorf("asked %d times", asked)
	}
}
