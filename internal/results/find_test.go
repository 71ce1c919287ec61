package results

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	s, ctx := open(t), context.Background()
	_, err := s.Find(ctx, Last)
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "no run is stored yet") {
		t.Errorf("last of none: %v", err)
	}
	ids := []string{"20261121-035352-k3f9", "20261121-035352-k3zz", "20261122-035352-k3f9", "20261122-035352-k3f9x"}
	for i, id := range ids {
		must(t, s.CreateRun(ctx, sampleRun(id, start.Add(time.Duration(i)*time.Hour))))
	}
	for ref, want := range map[string]string{
		Last: ids[3], ids[0]: ids[0], "20261121-035352-k3z": ids[1],
		ids[2]: ids[2], // exact, though also the start of another
	} {
		if got, err := s.Find(ctx, ref); got != want || err != nil {
			t.Errorf("Find(%q) = %q, %v", ref, got, err)
		}
	}
	for ref, want := range map[string]error{"2026": ErrAmbiguous, "": ErrNotFound, "%": ErrNotFound, "20261121-035352-k3f8": ErrNotFound} {
		if _, err := s.Find(ctx, ref); !errors.Is(err, want) {
			t.Errorf("Find(%q): %v, want %v", ref, err, want)
		}
	}
	_, err = s.Find(ctx, "20261121-035352-k3f8")
	if !strings.Contains(err.Error(), "the nearest are "+ids[0]) {
		t.Errorf("nearest: %v", err)
	}
}
