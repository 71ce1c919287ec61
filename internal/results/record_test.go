package results

import (
	"context"
	"errors"
	"testing"
)

func TestRecords(t *testing.T) {
	s, ctx := open(t), context.Background()
	var got map[string]int
	if there, err := s.Record(ctx, "sequence", "all", &got); there || err != nil {
		t.Errorf("a record of nothing: %v, %v", there, err)
	}
	must(t, s.SetRecord(ctx, "sequence", "all", map[string]int{"done": 1}))
	must(t, s.SetRecord(ctx, "sequence", "all", map[string]int{"done": 2}))
	must(t, s.SetRecord(ctx, "machine", "all", map[string]int{"done": 3}))
	must(t, s.Close())
	s = openAt(t, s.Path())
	if there, err := s.Record(ctx, "sequence", "all", &got); !there || err != nil || got["done"] != 2 {
		t.Errorf("%v, %v, %v", there, err, got)
	}
	must(t, s.RemoveRecord(ctx, "sequence", "all"))
	must(t, s.RemoveRecord(ctx, "sequence", "all"))
	if there, err := s.Record(ctx, "sequence", "all", &got); there || err != nil {
		t.Errorf("after removing it: %v, %v", there, err)
	}
	if there, err := s.Record(ctx, "machine", "all", &got); !there || err != nil || got["done"] != 3 {
		t.Errorf("the other: %v, %v, %v", there, err, got)
	}
	execute(t, s.Path(), "UPDATE records SET document = '{'")
	if _, err := s.Record(ctx, "machine", "all", &got); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a damaged record: %v", err)
	}
}
