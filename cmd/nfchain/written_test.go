package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestWrittenWhereItLeads: what a link leads to is written, and what is no file takes what is written to it and stays what it is.
func TestWrittenWhereItLeads(t *testing.T) {
	const text = "a report\n"
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	for _, path := range []string{file, link, pipe} {
		switch path {
		case link:
			if err := os.Symlink(file, link); err != nil {
				t.Fatal(err)
			}
		case pipe:
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before, err := os.Lstat(path)
		if path == file {
			if before != nil {
				t.Fatal("the file is there")
			}
		} else if err != nil {
			t.Fatal(err)
		}
		got := make(chan string, 1)
		if path == pipe {
			go func() {
				read, _ := os.ReadFile(pipe)
				got <- string(read)
			}()
		}
		if err := checkWritable("html", path); err != nil {
			t.Error(err)
		}
		if err := writeFile(path, write); err != nil {
			t.Error(err)
		}
		if path != pipe {
			read, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			got <- string(read)
		}
		if read := <-got; read != text {
			t.Errorf("%s holds %q", path, read)
		}
		if after, err := os.Lstat(path); err != nil || before != nil && after.Mode() != before.Mode() {
			t.Errorf("%s has become %v, error %v", path, after, err)
		}
		_ = os.Truncate(file, 0)
	}
	// A link to what is not there yet is made true.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(link, write); err != nil {
		t.Error(err)
	}
	if read, err := os.ReadFile(file); err != nil || string(read) != text {
		t.Errorf("the link leads to %q, error %v", read, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("there are %v, error %v", entries, err)
	}
}

// TestCaptureBegins costs nobody a file when there is something to write.
func TestCaptureBegins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "capture")
	if err := os.WriteFile(path, []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("a test's")
	a := &app{}
	if err := a.writeCapture(path, func(io.Writer) error { return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); string(text) != "of before" {
		t.Errorf("a capture that did not begin left %q, error %v", text, err)
	}
	if err := a.writeCapture(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "a")
		return err
	}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); string(text) != "a" {
		t.Errorf("it holds %q, error %v", text, err)
	}
	// Who reads a named pipe is waited for before anything is captured.
	pipe := path + ".pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var reads atomic.Bool
	ended := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		reads.Store(true)
		_, err := os.ReadFile(pipe)
		ended <- err
	}()
	if err := a.writeCapture(pipe, func(w io.Writer) error {
		if !reads.Load() {
			t.Error("it is captured before anybody reads")
		}
		_, err := io.WriteString(w, "a")
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
