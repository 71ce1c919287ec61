package main

import (
	"context"
	"io"
	"os"
	"time"
)

// tailEvery is the time between two looks at what was appended.
const tailEvery = 200 * time.Millisecond

// tail copies what is appended to a file until the context ends. A file that was
// cut short is read from its new end.
func tail(ctx context.Context, w io.Writer, f *os.File) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(tailEvery):
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if info, err := f.Stat(); err == nil && info.Size() < at {
			if _, err := f.Seek(0, io.SeekEnd); err != nil {
				return err
			}
		}
		if _, err := io.Copy(w, f); err != nil {
			return err
		}
	}
}
