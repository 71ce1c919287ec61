package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// writeDirectory as a tar that is the same to the byte as long as names, modes and contents are: an engine is told
// neither who has the files nor when they were written. Of an archive without an end, which is not written where end fails, no
// engine makes anything.
func (s Source) writeDirectory(w io.Writer, end func() error) error {
	archive := tar.NewWriter(w)
	err := s.walk(func(path, name string, entry fs.DirEntry) error { return add(archive, path, name, entry) })
	if err != nil {
		return err
	}
	if err := archive.Flush(); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	return archive.Close()
}

// walk over all in the directory that is not left out.
func (s Source) walk(do func(path, name string, entry fs.DirEntry) error) error {
	return bare(filepath.WalkDir(s.Path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.Path, path)
		if err != nil || name == "." {
			return err
		}
		if name != Dockerfile && s.ignored.has(name) {
			if entry.IsDir() && !s.ignored.excepts {
				return filepath.SkipDir
			}
			return nil
		}
		if err := do(path, name, entry); err != nil {
			return at(name, err)
		}
		return nil
	}))
}

// check what can be seen without reading the files: what no image can have, and what may not be read.
func check(path, _ string, entry fs.DirEntry) error {
	if err := has(entry.Type()); err != nil || !entry.Type().IsRegular() {
		return err
	}
	return unix.Access(path, unix.R_OK)
}

// has is an error for what no image can have.
func has(mode fs.FileMode) error {
	if mode.IsDir() || mode.IsRegular() || mode&fs.ModeSymlink != 0 {
		return nil
	}
	return errors.New("is neither a file, a directory nor a link; name it in .dockerignore")
}

func add(archive *tar.Writer, path, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	if err := has(info.Mode()); err != nil {
		return err
	}
	h := &tar.Header{Name: filepath.ToSlash(name), Mode: modeOf(info.Mode()), ModTime: time.Unix(0, 0)}
	switch {
	case info.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		return archive.WriteHeader(h)
	case info.Mode()&fs.ModeSymlink != 0:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = os.Readlink(path); err != nil {
			return err
		}
		return archive.WriteHeader(h)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	if n, err := io.Copy(archive, io.LimitReader(file, h.Size)); err != nil || n < h.Size {
		return fmt.Errorf("%d of %d bytes could be read (%v); it is being written", n, h.Size, err)
	}
	return nil
}

// modeOf a file as tar(5) has it.
func modeOf(mode fs.FileMode) int64 {
	all := int64(mode.Perm())
	for bit, is := range map[int64]fs.FileMode{unix.S_ISUID: fs.ModeSetuid, unix.S_ISGID: fs.ModeSetgid, unix.S_ISVTX: fs.ModeSticky} {
		if mode&is != 0 {
			all |= bit
		}
	}
	return all
}
