package nstest

import (
	"errors"
	"testing"
)

// TestAnswers: a server is waited for until it answers, and one that has ended no longer.
func TestAnswers(t *testing.T) {
	ended := make(chan struct{})
	asked := 0
	refuses := errors.New("refuses")
	if err := answers(ended, func() error {
		if asked++; asked < 3 {
			return refuses
		}
		return nil
	}); err != nil || asked != 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	close(ended)
	if err := answers(ended, func() error { return refuses }); err == nil || err.Error() != "ended" {
		t.Errorf("%v", err)
	}
}
