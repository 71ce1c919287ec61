package results

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// busyMillis is how long one process waits for another's transaction. Ours take
// milliseconds, so that even many writers on a slow disk are through by then.
const busyMillis = "20000"

// address is the data source name of the file at path. The path goes in as a
// URI, because the driver would cut a plain name at its first '?'.
func address(path string) string {
	q := url.Values{
		// Writers take the write lock at once: two that read first and write
		// later would otherwise fail without waiting.
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(" + busyMillis + ")", "foreign_keys(1)", "synchronous(EXTRA)"},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// makePrivate makes the file's directories and the file, readable by their
// owner alone: raw output may name what others need not know. What is there
// already keeps its mode.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return notDirectory(path)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// notDirectory refuses a directory, of which SQLite says that it is out of memory.
func notDirectory(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	return nil
}
