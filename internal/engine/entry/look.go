package entry

import (
	"io/fs"
	"os"
	"syscall"
)

// lookUp finds a program as [exec.LookPath] does, whose package is initialised after many that are not needed here. One in a directory that is
// named relative to where the process is, is not taken either.
func lookUp(name string) (string, error) {
	if has(name, '/') {
		if err := runs(name); err != nil {
			return "", &missing{name, err.Error()}
		}
		return name, nil
	}
	for _, dir := range directories(os.Getenv("PATH")) {
		path := dir + "/" + name
		if dir == "/" {
			path = dir + name
		}
		switch {
		case name == "" || runs(path) != nil:
		case dir[0] != '/':
			return "", &missing{name, "cannot run executable found relative to current directory"}
		default:
			return path, nil
		}
	}
	return "", &missing{name, "executable file not found in $PATH"}
}

// directories of a PATH, without what ends them; an empty one is where the process is, as in shells. An empty PATH has none.
func directories(path string) (all []string) {
	if path == "" {
		return nil
	}
	began := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != ':' {
			continue
		}
		dir := path[began:i]
		for len(dir) > 1 && dir[len(dir)-1] == '/' {
			dir = dir[:len(dir)-1]
		}
		if dir == "" {
			dir = "."
		}
		all, began = append(all, dir), i+1
	}
	return all
}

// has tells whether a text has a character.
func has(text string, c byte) bool {
	for i := range len(text) {
		if text[i] == c {
			return true
		}
	}
	return false
}

// missing is why a program cannot be run, in the words of package exec.
type missing struct{ name, why string }

func (m *missing) Error() string { return `exec: "` + m.name + `": ` + m.why }

// runs is an error if a file is none that this process may run.
func runs(path string) error {
	const toRun, asItself = 0x1, 0x200 // X_OK, AT_EACCESS
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	err = syscall.Faccessat(-0x64, path, toRun, asItself) // AT_FDCWD
	if err != syscall.ENOSYS && err != syscall.EPERM {    // which a container's seccomp may say, whatever the file
		return err
	}
	if info.Mode()&0o111 != 0 {
		return nil
	}
	return fs.ErrPermission
}
