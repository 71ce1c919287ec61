package deploy

import (
	"context"
	"runtime"
	"sync"
)

// each runs fn for every item on twice as many goroutines as there are cores, and stops
// at the first error or when the context ends.
func each(ctx context.Context, items []string, fn func(string) error) error {
	return eachOf(ctx, twiceCores(), items, fn)
}

// twiceCores is the cores that there are, twice.
func twiceCores() int { return runtime.GOMAXPROCS(0) * 2 }

// eachOf does so on so many goroutines.
func eachOf(ctx context.Context, atOnce int, items []string, fn func(string) error) error {
	var group sync.WaitGroup
	queue := make(chan string)
	failed := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range min(len(items), atOnce) {
		group.Add(1)
		go func() {
			defer group.Done()
			for item := range queue {
				if err := fn(item); err != nil {
					select {
					case failed <- err:
						cancel()
					default:
					}
				}
			}
		}()
	}
feed:
	for _, item := range items {
		select {
		case queue <- item:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		if err := ctx.Err(); err != nil {
			return Interrupted(err)
		}
		return nil
	}
}
