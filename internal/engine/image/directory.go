package image

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// writeDirectory as a tar that is the same to the byte as long as names, modes and contents are: an engine is told
// neither who has the files nor when they were written. Of an archive without an end, which is not written where end fails, no
// engine makes anything.
func (s Source) writeDirectory(w io.Writer, end func() error) error {
	archive := tar.NewWriter(w)
	err := filepath.WalkDir(s.Path, func(path string, entry fs.DirEntry, err error) error {
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
		if err := add(archive, path, name, entry); err != nil {
			return at(name, err)
		}
		return nil
	})
	if err != nil {
		return bare(err)
	}
	if err := archive.Flush(); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	return archive.Close()
}

func add(archive *tar.Writer, path, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: filepath.ToSlash(name), Mode: int64(info.Mode().Perm()), ModTime: time.Unix(0, 0)}
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
	case !info.Mode().IsRegular():
		return fmt.Errorf("is neither a file, a directory nor a link; name it in .dockerignore")
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
