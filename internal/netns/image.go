package netns

import (
	"os"
	"path/filepath"
	"strings"
)

// own is the program of whoever executes it by this name, though it was deleted (proc_pid_exe(5)).
const own = "/proc/self/exe"

// Called is the name of a program by the path that executes it, also where that is the own one of whoever asks.
func Called(path string) string {
	if path == own {
		if named, err := os.Readlink(own); err == nil {
			path = strings.TrimSuffix(named, " (deleted)")
		}
	}
	return filepath.Base(path)
}

// Image is the path by which this process, or a child that has not become another yet, executes its own program again. That is where the
// program is as long as it is there: an upgrade puts another in its place, which need not understand what this one would tell it.
func Image() string {
	path, err := os.Executable()
	if err != nil {
		return own
	}
	running, err := os.Stat(own)
	if err != nil {
		return path
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(there, running) {
		return own
	}
	return path
}
