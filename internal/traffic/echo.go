package traffic

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// echoesApart is how far the requests of ping and fping are apart where nobody says: the least that each of them takes
// of root in each version.
const echoesApart = 2 * time.Millisecond

// PacesEchoes implements [Pacer] for ping and fping. What they take for the time between two requests are whole
// milliseconds, also where they take a fraction.
func PacesEchoes(perSecond int) error {
	const most = int(time.Second / echoesApart)
	near := max(1, min(perSecond, most))
	for time.Second/time.Millisecond%time.Duration(near) != 0 {
		near--
	}
	if near != perSecond {
		return fmt.Errorf("%d requests a second are not whole milliseconds apart, at least %v; write such as %d", perSecond, echoesApart, near)
	}
	return nil
}

// Echoes is how many requests ping and fping send, and how far these are apart.
func (j Job) Echoes() (count int, apart time.Duration) {
	apart = echoesApart
	if rate := j.Condition.RequestRate; rate > 0 {
		apart = time.Second / time.Duration(rate)
	}
	return max(1, int(j.Condition.DurationS*float64(time.Second)+0.5)/int(apart)), apart
}

// Echo runs a program that sends so many requests and prints the reply to each, of
// which parse finds the round-trip times in nanoseconds. What was not answered is
// loss, also where the program calls it a failure; only no answer at all is an error.
func (j Job) Echo(ctx context.Context, count int, parse func([]byte) []int64, args ...string) (Sample, error) {
	ctx, cancel := Deadline(ctx, j.Condition.DurationS)
	defer cancel()
	p, err := j.StartClient(ctx, args...)
	if err != nil {
		return Sample{}, err
	}
	defer p.Kill()
	failed := p.Wait(ctx)
	times := parse(p.Stdout())
	if ctx.Err() != nil || len(times) == 0 {
		if failed == nil {
			failed = fmt.Errorf("%s printed no reply: %q", p, words.Excerpt(p.Stdout()))
		}
		return Sample{}, failed
	}
	s, err := LatencySample(times)
	if err != nil {
		return s, err
	}
	s.Metrics["loss_ratio"] = max(0, 1-float64(len(times))/float64(count))
	s.Raw = []trial.ToolOutput{p.Output()}
	return s, nil
}

// longest round trip that is believed, in milliseconds: an hour.
const longest = 3.6e6

// RoundTrip reads a time that a program printed in milliseconds, as nanoseconds; false
// for what can be none.
func RoundTrip(milliseconds []byte) (ns int64, believed bool) {
	ms, err := strconv.ParseFloat(string(milliseconds), 64)
	if err != nil || math.IsNaN(ms) || ms >= longest {
		return 0, false
	}
	return int64(ms*1e6 + 0.5), true
}
