package held_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/held"
)

// areas of a memory that is made.
func areas(t *testing.T, n, room int) held.Areas {
	t.Helper()
	nstest.Require(t, feature.Root)
	memory := &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, MaxEntries: 1}
	current := &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4}
	held.LayOut(memory, current, n, room)
	var made [2]*ebpf.Map
	for i, spec := range []*ebpf.MapSpec{memory, current} {
		m, err := ebpf.NewMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		made[i] = m
	}
	return held.Areas{Memory: made[0], Current: made[1]}
}

// TestAreasAreReplaced each by another than what counts, and nothing else is written.
func TestAreasAreReplaced(t *testing.T) {
	for n := 2; n <= 4; n++ {
		for _, room := range []int{held.Line, 4096 + held.Line, 3 * 4096} {
			a := areas(t, n, room)
			if !a.Has() || a.Len() != n || a.Room() != room {
				t.Fatalf("%d areas of %d bytes, want %d of %d", a.Len(), a.Room(), n, room)
			}
			want, last := make([]byte, n*room+held.Behind), 0
			used := map[int]bool{0: true}
			for round := range 3 * n {
				if counts, err := a.Counting(); err != nil || counts != last {
					t.Fatalf("area %d counts, error %v, want %d", counts, err, last)
				}
				mine := bytes.Repeat([]byte{byte(round + 1)}, room-round)
				err := a.Replace(len(mine), func(area int, memory []byte) error {
					if area == last || len(memory) != len(mine) {
						t.Errorf("%d bytes are written into area %d, and %d counts", len(memory), area, last)
					}
					last, used[area] = area, true
					copy(memory, mine)
					copy(want[area*room:], mine)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if got, err := a.Memory.LookupBytes(uint32(0)); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("after %d times the memory of %d areas of %d bytes is another, error %v", round+1, n, room, err)
				}
			}
			if len(used) != n {
				t.Errorf("of %d areas %v were used", n, used)
			}
		}
	}
}

// TestAreasHaveBounds and what is not written whole does not count.
func TestAreasHaveBounds(t *testing.T) {
	a := areas(t, 2, held.Line)
	none := func(int, []byte) error { t.Error("more than there is room for is written"); return nil }
	if err := a.Replace(held.Line+1, none); err == nil {
		t.Error("more than there is room for is not refused")
	}
	for _, area := range []int{-1, 2} {
		if err := a.In(area, 1, func([]byte) error { return nil }); err == nil {
			t.Errorf("there is an area %d", area)
		}
	}
	if err := a.Replace(1, func(int, []byte) error { return bytes.ErrTooLarge }); err == nil {
		t.Error("an error is not told")
	}
	if counts, err := a.Counting(); err != nil || counts != 0 {
		t.Errorf("area %d counts, error %v", counts, err)
	}
	if err := a.Current.Put(uint32(0), uint32(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Counting(); err == nil {
		t.Error("an area counts that is not there")
	}
	if (held.Areas{}).Has() {
		t.Error("no maps are areas")
	}
}

// TestAreasAreWrittenWhenNobodyReadsThem: those first that were left first, and what this process did not leave once
// everybody has ended.
func TestAreasAreWrittenWhenNobodyReadsThem(t *testing.T) {
	begun := make(chan chan struct{}, 1)
	readers := held.NewReaders(func() {
		told := make(chan struct{})
		begun <- told
		<-told
	})
	readers.End(1, 10)
	first := <-begun
	readers.End(2, 11)
	second := <-begun
	readers.End(3, 12)
	third := <-begun
	awaited := func(want int, told chan struct{}, areas map[int]uint32) {
		t.Helper()
		var ended atomic.Bool
		done := make(chan bool)
		go func() {
			if area := readers.Await(areas); area != want {
				t.Errorf("area %d is to be written, want %d", area, want)
			}
			done <- ended.Load()
		}()
		if told == nil { // nobody has begun to wait for it
			told = <-begun
		}
		time.Sleep(10 * time.Millisecond) // for who does not wait
		ended.Store(true)
		close(told)
		if !<-done {
			t.Errorf("area %d was to be written while it was read", want)
		}
	}
	awaited(1, first, map[int]uint32{1: 10, 2: 11, 3: 12})
	awaited(2, second, map[int]uint32{2: 11, 3: 12, 0: 13})
	awaited(3, third, map[int]uint32{3: 12, 0: 13})
	awaited(0, nil, map[int]uint32{0: 13})
	readers.End(1, 14)
	left := <-begun
	awaited(1, nil, map[int]uint32{1: 15}) // which another process wrote meanwhile
	close(left)
}

// TestAreasAreReadAsOfOneTime: what is written over an area while it is read has it read again, and what counts instead of it
// has not.
func TestAreasAreReadAsOfOneTime(t *testing.T) {
	for n := 2; n <= 4; n++ {
		a := areas(t, n, held.Line)
		next := func(value byte) {
			if err := a.Replace(1, func(_ int, memory []byte) error { memory[0] = value; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		next(1)
		for overtaken := range n + 1 {
			tries := 0
			var got [2]byte
			err := a.Steadily(func(area int) error {
				tries++
				return a.In(area, 1, func(memory []byte) error {
					got[0] = memory[0]
					for i := range overtaken {
						if tries == 1 {
							next(byte(10*overtaken + i))
						}
					}
					got[1] = memory[0]
					return nil
				})
			})
			want := 1
			if overtaken >= n {
				want = 2
			}
			if err != nil || tries != want || got[0] != got[1] {
				t.Errorf("of %d areas, %d written meanwhile: %d tries, error %v, read %v", n, overtaken, tries, err, got)
			}
		}
		err := a.Steadily(func(area int) error { return bytes.ErrTooLarge })
		if !errors.Is(err, bytes.ErrTooLarge) {
			t.Errorf("an error is told as %v", err)
		}
	}
	a := areas(t, 2, held.Line)
	err := a.Steadily(func(int) error {
		for range 2 {
			if err := a.Replace(1, func(int, []byte) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	})
	if err == nil {
		t.Error("what is never read whole is told")
	}
}

// TestAreasThatAreWrittenAreNotRead: one that counts again is written for it.
func TestAreasThatAreWrittenAreNotRead(t *testing.T) {
	a := areas(t, 2, held.Line)
	for range 3 {
		err := a.Replace(1, func(area int, _ []byte) error {
			var counted uint32
			if err := a.Current.Lookup(uint32(1+area), &counted); err != nil || counted != 0 {
				t.Errorf("area %d that is being written is the %d'th that counted, error %v", area, counted, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadersAreForgotten of areas that were left long ago.
func TestReadersAreForgotten(t *testing.T) {
	readers := held.NewReaders(func() {})
	for i := range uint32(3 * held.MostEndings) {
		readers.End(1, i)
	}
	if n := readers.Known(); n != held.MostEndings {
		t.Errorf("%d areas are known, want %d", n, held.MostEndings)
	}
	if area := readers.Await(map[int]uint32{1: 3*held.MostEndings - 1}); area != 1 || readers.Known() != held.MostEndings-1 {
		t.Errorf("area %d, and %d are known then", area, readers.Known())
	}
}

// TestAreasAreAsMany as are made at ease.
func TestAreasAreAsMany(t *testing.T) {
	for each, want := range map[int][2]int{0: {4, 4}, held.AtEase / 4: {4, 4}, held.AtEase/4 + 1: {2, 2}, held.AtEase / 2: {2, 2}, held.AtEase/2 + 1: {1, 2}, 4 * held.AtEase: {1, 2}} {
		if got := [2]int{held.HowMany(4, 1, each), held.HowMany(4, 2, each)}; got != want {
			t.Errorf("of %d bytes each there are %v, want %v", each, got, want)
		}
	}
}
