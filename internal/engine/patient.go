package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// asked is an engine as it is: what it is asked takes as long as it takes.
type asked interface {
	Engine
	// answers is an error where it says nothing.
	answers(ctx context.Context) error
	// called is what it is called in a sentence, and unit the service that runs it.
	called() string
	unit() string
}

// patience is how long an engine is waited for.
type patience struct {
	// look is how long what it is asked may take until it is asked whether it is there, again and again, and each of these times it has
	// so long to say so.
	look, answer time.Duration
	// most is what anything may take that it does by itself, such as starting a container.
	most time.Duration
}

// usual is enough for an engine that is only slow.
var usual = patience{look: 5 * time.Second, answer: answersWithin, most: 3 * time.Minute}

// missedAtMost is how often in turn it may leave that without an answer.
const missedAtMost = 2

// unanswered is the error of an engine that is there and says nothing.
func unanswered(called, unit, variable string) error {
	return fmt.Errorf("%s %w (it takes what it is asked, and %w within %v); see journalctl -u %s, end it and start it again (systemctl restart %s), or set %s", called, ErrNotThere, errSilent, answersWithin, unit, unit, variable)
}

// late tells whether an engine that was asked has not answered in time, and nobody has lost interest.
func late(asking, ctx context.Context) bool {
	return asking.Err() != nil && !errors.Is(ctx.Err(), context.Canceled)
}

// silences are engines that said nothing when they were opened, each with the time and its error. They are not waited for again at once: a
// command opens an engine several times.
type silences struct {
	mu sync.Mutex
	of map[string]silence
}

type silence struct {
	at  time.Time
	err error
}

var silent = silences{of: map[string]silence{}}

func (s *silences) was(name, host string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, is := s.of[name+" "+host]; is && time.Since(last.at) < answersWithin {
		return last.err
	}
	return nil
}

func (s *silences) note(name, host string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[name+" "+host] = silence{time.Now(), err}
}

// patient is an engine of which every call ends, with an error that says what to do: where it has hung up, where it says nothing any more, and
// where it says that it is there and yet does not do what it was asked.
type patient struct {
	asked
	patience
}

// patiently opens an engine so that every call of it ends.
func patiently(open func(context.Context) (asked, error)) func(context.Context) (Engine, error) {
	return func(ctx context.Context) (Engine, error) {
		opened, err := open(ctx)
		if err != nil {
			return nil, err
		}
		calm := patient{opened, usual}
		if n, is := opened.(Networking); is {
			return patientNetworking{calm, n}, nil
		}
		return calm, nil
	}
}

// errSilent is that of an engine that is there and says nothing, and the cause of the end of a call to it.
var errSilent = errors.New("does not answer")

// AtMost bounds how long engines may take for what they are asked. Where one takes longer the error says so, and what to do.
func AtMost(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, most, overdue(most))
}

// overdue is the cause of the end of a call that took longer.
type overdue time.Duration

func (o overdue) Error() string {
	return fmt.Sprintf("it has not done so within %v, though it answers", time.Duration(o))
}

// limited is what is asked of the engine, in words for an error, until it is done; with a limit it is also bounded in time.
func (p patient) limited(ctx context.Context, limit bool, what string, do func(context.Context) error) error {
	calling, end := context.WithCancelCause(ctx)
	defer end(nil)
	if limit {
		var stop context.CancelFunc
		calling, stop = AtMost(calling, p.most)
		defer stop()
	}
	go p.watch(calling, end)
	err := do(calling)
	why := context.Cause(calling)
	switch {
	case err == nil || errors.Is(err, ErrNotThere):
		return err
	case errors.As(why, new(overdue)) || errors.Is(why, errSilent):
		return p.failing(what, why, "end it and start it again (systemctl restart "+p.unit()+")")
	case ctx.Err() != nil:
		return err
	case p.hungUp(ctx, err):
		return p.failing(what, fmt.Errorf("it ended meanwhile (%w)", err), "start it, unless it has been started since (systemctl start "+p.unit()+")")
	}
	return err
}

// afterwards is for clearing up after a call, which may be over by then; an engine that hangs is not waited for without end.
func afterwards(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// unbroken is for what is better done than broken off: it ends with ctx only a while later, when an engine would have answered.
func unbroken(ctx context.Context) (context.Context, context.CancelFunc) {
	doing, end := context.WithCancel(context.WithoutCancel(ctx))
	unheed := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(answersWithin):
			end()
		case <-doing.Done():
		}
	})
	return doing, func() { unheed(); end() }
}

func (p patient) failing(what string, why error, do string) error {
	return fmt.Errorf("%s: ask %s at %s: %w; see journalctl -u %s, %s, and then run this again", what, p.called(), p.Host(), why, p.unit(), do)
}

// hungUp tells whether a call failed since the engine ended, though it may have begun again.
func (p patient) hungUp(ctx context.Context, err error) bool {
	var asking *url.Error
	if client.IsErrConnectionFailed(err) || errdefs.IsUnavailable(err) || errors.As(err, &asking) && errors.Is(err, io.EOF) {
		return true
	}
	ctx, stop := context.WithTimeout(ctx, p.answer)
	defer stop()
	return p.answers(ctx) != nil
}

// watch over the engine as long as a call goes on, and end that if it says nothing.
func (p patient) watch(calling context.Context, end context.CancelCauseFunc) {
	for missed := 0; missed < missedAtMost; {
		select {
		case <-calling.Done():
			return
		case <-time.After(p.look):
		}
		asking, stop := context.WithTimeout(calling, p.answer)
		err := p.answers(asking)
		stop()
		if missed++; err == nil {
			missed = 0
		}
	}
	end(fmt.Errorf("it %w any more", errSilent))
}

func (p patient) Version(ctx context.Context) (version string, err error) {
	err = p.limited(ctx, true, "ask for the version", func(ctx context.Context) (err error) {
		version, err = p.asked.Version(ctx)
		return err
	})
	return version, err
}

func (p patient) List(ctx context.Context, owner string) (all []Container, err error) {
	err = p.limited(ctx, true, "list the containers", func(ctx context.Context) (err error) {
		all, err = p.asked.List(ctx, owner)
		return err
	})
	return all, err
}

// Prepare has no limit but that the engine is there: an image is fetched or built as long as that takes.
func (p patient) Prepare(ctx context.Context, w Wanted, progress func(string)) (image string, err error) {
	err = p.limited(ctx, false, "function "+w.Node, func(ctx context.Context) (err error) {
		image, err = p.asked.Prepare(ctx, w, progress)
		return err
	})
	return image, err
}

func (p patient) Create(ctx context.Context, w Wanted) (id string, err error) {
	err = p.limited(ctx, true, "make container "+w.Name, func(ctx context.Context) (err error) {
		id, err = p.asked.Create(ctx, w)
		return err
	})
	return id, err
}

func (p patient) Start(ctx context.Context, id string) (c Container, err error) {
	err = p.limited(ctx, true, "start container "+id, func(ctx context.Context) (err error) {
		c, err = p.asked.Start(ctx, id)
		return err
	})
	return c, err
}

func (p patient) Limit(ctx context.Context, id string, l Limits) error {
	return p.limited(ctx, true, "limit container "+id, func(ctx context.Context) error { return p.asked.Limit(ctx, id, l) })
}

func (p patient) Inspect(ctx context.Context, id string) (c Container, err error) {
	err = p.limited(ctx, true, "look at container "+id, func(ctx context.Context) (err error) {
		c, err = p.asked.Inspect(ctx, id)
		return err
	})
	return c, err
}

func (p patient) Remove(ctx context.Context, id string) error {
	return p.limited(ctx, true, "remove container "+id, func(ctx context.Context) error { return p.asked.Remove(ctx, id) })
}

// Exec has no limit but that the engine is there: the command takes as long as it takes.
func (p patient) Exec(ctx context.Context, id string, args []string, s Streams) (code int, err error) {
	err = p.limited(ctx, false, fmt.Sprintf("run %q in container %s", args, id), func(ctx context.Context) (err error) {
		code, err = p.asked.Exec(ctx, id, args, s)
		return err
	})
	return code, err
}

func (p patient) EndExec(ctx context.Context, id, command string) error {
	return p.limited(ctx, true, "end a command in container "+id, func(ctx context.Context) error { return p.asked.EndExec(ctx, id, command) })
}

// patientNetworking is one that has networks.
type patientNetworking struct {
	patient
	networks Networking
}

func (p patientNetworking) Networks(ctx context.Context, owner string) (all []Network, err error) {
	err = p.limited(ctx, true, "list the networks", func(ctx context.Context) (err error) {
		all, err = p.networks.Networks(ctx, owner)
		return err
	})
	return all, err
}

func (p patientNetworking) NetworkDriver(ctx context.Context, name string) (driver string, err error) {
	err = p.limited(ctx, true, "look at network "+name, func(ctx context.Context) (err error) {
		driver, err = p.networks.NetworkDriver(ctx, name)
		return err
	})
	return driver, err
}

func (p patientNetworking) MakeNetwork(ctx context.Context, n Network) error {
	return p.limited(ctx, true, "make network "+n.Name, func(ctx context.Context) error { return p.networks.MakeNetwork(ctx, n) })
}

func (p patientNetworking) RemoveNetwork(ctx context.Context, name string) error {
	return p.limited(ctx, true, "remove network "+name, func(ctx context.Context) error { return p.networks.RemoveNetwork(ctx, name) })
}

func (p patientNetworking) Vacant(ctx context.Context, of Publication) error {
	return p.limited(ctx, true, "look at published ports", func(ctx context.Context) error { return p.networks.Vacant(ctx, of) })
}
