package feature

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestScratchIsElsewhereAndGone(t *testing.T) {
	needNetNS(t)
	before := namespace(t, "/proc/self/ns/net")
	var wg sync.WaitGroup
	for range 50 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := inScratch(t.Context(), func() error {
				if namespace(t, "/proc/thread-self/ns/net") == before {
					return errors.New("still in the namespace of the process")
				}
				if unix.Gettid() == unix.Getpid() {
					return errors.New("on the main thread, which cannot die")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	for _, tid := range strayThreads(t, before, time.Minute) {
		t.Errorf("thread %s stayed in a scratch namespace", tid)
	}
}

func TestScratchThatHangs(t *testing.T) {
	needNetNS(t)
	release := make(chan struct{})
	env := Env{Timeout: 50 * time.Millisecond}
	a := vethKind.try(t.Context(), env, func() error { <-release; return nil })
	close(release)
	if a.present || !strings.Contains(a.why, "hangs") {
		t.Errorf("got %+v", a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := inScratch(ctx, func() error { time.Sleep(time.Millisecond); return nil }); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// strayThreads are the threads of this process outside a namespace, once they had
// the time to die.
func strayThreads(t *testing.T, home string, within time.Duration) []string {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		stray := threadsOutside(home)
		if len(stray) == 0 || time.Now().After(deadline) {
			return stray
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func threadsOutside(home string) []string {
	tasks, _ := os.ReadDir("/proc/self/task")
	var stray []string
	for _, task := range tasks {
		ns, err := os.Readlink("/proc/self/task/" + task.Name() + "/ns/net")
		if err == nil && ns != home {
			stray = append(stray, task.Name())
		}
	}
	return stray
}

func namespace(t *testing.T, path string) string {
	t.Helper()
	ns, err := os.Readlink(path)
	if err != nil {
		t.Error(err)
	}
	return ns
}
