package namespace

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is the settings of the namespace that the thread is in. Below
// /proc/sys/net every namespace has directories of the same names, which the
// kernel finds by going through those of all namespaces; so each is looked up
// once and held open.
type tree struct{ open map[string]int }

// held is how many leading elements of a path are held open: net/ipv4 of
// net/ipv4/conf/all/rp_filter.
const held = 2

// file opens a setting.
func (t *tree) file(name string, mode int) (int, error) {
	words := strings.SplitN(name, "/", held+1)
	rest := words[len(words)-1]
	dir := path.Join(words[:len(words)-1]...)
	at, ok := t.open[dir]
	if !ok {
		var err error
		if at, err = unix.Open(path.Join("/proc/sys", dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return -1, err
		}
		if t.open == nil {
			t.open = map[string]int{}
		}
		t.open[dir] = at
	}
	return unix.Openat(at, rest, mode|unix.O_CLOEXEC, 0)
}

func (t *tree) read(name string) (string, error) {
	fd, err := t.file(name, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer func() { _ = unix.Close(fd) }()
	value := make([]byte, 128)
	n, err := unix.Read(fd, value)
	return strings.TrimSpace(string(value[:max(n, 0)])), err
}

func (t *tree) write(name, value string) error {
	fd, err := t.file(name, unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	_, err = unix.Write(fd, []byte(value))
	return err
}

func (t *tree) close() {
	for _, fd := range t.open {
		_ = unix.Close(fd)
	}
}
