package image

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isRoot tells of a directory without a Dockerfile that it clearly is a root filesystem: it has a directory etc, and where such a one has
// programs there is something that may be run. Links that lead out of it count for nothing.
func isRoot(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, Dockerfile)); err == nil {
		return false
	}
	if info, err := os.Lstat(filepath.Join(dir, "etc")); err != nil || !info.IsDir() {
		return false
	}
	return slices.ContainsFunc(programsIn, func(in string) bool {
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, in)); err != nil || !strings.HasPrefix(real, strings.TrimSuffix(dir, "/")+"/") {
			return false
		}
		entries, _ := os.ReadDir(filepath.Join(dir, in))
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			const anybody = 0o111
			info, err := e.Info()
			return err == nil && (info.Mode()&fs.ModeSymlink != 0 || info.Mode().IsRegular() && info.Mode()&anybody != 0)
		})
	})
}

// mountedOver are what engines have in a container whatever its image has there.
var mountedOver = []string{"dev", "proc", "sys"}

// writeRoot writes a root filesystem as a tar that is the same to the byte as long as it is the same: with who has its files and when
// they were written, by numbers. Left out is what has a meaning on a running system alone: sockets, and what is in a directory that a
// container has of its engine.
func writeRoot(w io.Writer, dir string) error {
	archive, linked := tar.NewWriter(w), map[[2]uint64]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || entry.Type()&fs.ModeSocket != 0 {
			return err
		}
		if err := addRoot(archive, path, name, entry, linked); err != nil {
			return at(name, err)
		}
		if entry.IsDir() && slices.Contains(mountedOver, name) {
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

// addRoot adds one of its files; linked are those that have several names, by what the kernel calls them.
func addRoot(archive *tar.Writer, path, name string, entry fs.DirEntry, linked map[[2]uint64]string) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	h.Name, h.Uname, h.Gname = "./"+filepath.ToSlash(name), "", "" // whoever has these numbers on this machine
	h.ModTime, h.AccessTime, h.ChangeTime = info.ModTime().Truncate(time.Second), time.Time{}, time.Time{}
	if info.IsDir() {
		h.Name += "/"
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() && is.Nlink > 1 {
		as := [2]uint64{is.Dev, is.Ino}
		if first, before := linked[as]; before {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
			return archive.WriteHeader(h)
		}
		linked[as] = h.Name
	}
	if !info.Mode().IsRegular() {
		return archive.WriteHeader(h)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0) // nor what somebody has put in its place
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(archive, io.LimitReader(file, h.Size))
	if err == nil && n < h.Size {
		return fmt.Errorf("%d of %d bytes could be read; it is being written", n, h.Size)
	}
	return err
}

// counter counts what is written.
type counter struct {
	to   io.Writer
	size int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.size += int64(n)
	return n, err
}
