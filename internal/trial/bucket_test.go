package trial

import "testing"

// TestBucketsAreNarrow holds every bucket to its promise and to its neighbours.
func TestBucketsAreNarrow(t *testing.T) {
	var next uint64
	for b := range Buckets {
		low, above := BucketBounds(b)
		if low != next || above <= low {
			t.Fatalf("bucket %d is [%d, %d), the one before ends at %d", b, low, above, next)
		}
		if width := above - low; width > 1 && float64(width)/float64(low) > 1.0/64 {
			t.Fatalf("bucket %d is [%d, %d): wider than a 64th", b, low, above)
		}
		if Bucket(low) != b || Bucket(above-1) != b || Bucket(BucketMiddle(b)) != b {
			t.Fatalf("bucket %d: its ends fall into %d and %d", b, Bucket(low), Bucket(above-1))
		}
		next = above
	}
	if next != 1<<bucketTop || Bucket(next) != Buckets-1 || Bucket(1<<63) != Buckets-1 {
		t.Errorf("the buckets end at %d", next)
	}
}

func TestHistogramKeepsWhatWasSeen(t *testing.T) {
	counts := make([]uint64, Buckets)
	for _, v := range []uint64{5, 1000, 1000, 123456789} {
		counts[Bucket(v)]++
	}
	h := BucketHistogram(counts, 5, 123456789)
	if h.TotalCount() != 4 || h.Min() != 5 {
		t.Errorf("%d values from %d", h.TotalCount(), h.Min())
	}
	if p := float64(h.ValueAtPercentile(50)); p < 1000*0.99 || p > 1000*1.01 {
		t.Errorf("median %v, want 1000 within 1%%", p)
	}
	if p := float64(h.Max()); p < 123456789*0.99 || p > 123456789*1.01 {
		t.Errorf("maximum %v", p)
	}
}
