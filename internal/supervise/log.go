package supervise

import (
	"os"
	"time"
)

const (
	// longestLog is how large a log may grow before its older part is dropped.
	longestLog = 16 << 20
	// trimOften is the time between two looks at logs while one grows. It doubles, up to trimSeldom, while none does,
	// so that what is at rest is left there.
	trimOften, trimSeldom = 500 * time.Millisecond, 8 * time.Second
)

// trimLogs keeps talkative programs from filling the memory that /run lives in.
func (s *supervisor) trimLogs() {
	known := logs{}
	for wait := trimOften; ; wait = min(2*wait, trimSeldom) {
		files := s.logFiles()
		if known.grew(files) {
			wait = trimOften
		}
		var again <-chan time.Time
		if len(files) > 0 {
			again = time.After(wait)
		}
		select {
		case <-s.ends:
			return
		case <-s.stirred: // who begins or ends says why
			wait = trimOften
		case <-again:
		}
	}
}

// logFiles of all programs.
func (s *supervisor) logFiles() (files []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for node := range s.programs {
		files = append(files, s.config.LogFile(node))
	}
	return files
}

// logs are files, and how long each was when it was last looked at.
type logs map[string]int64

// grew tells whether any of the files did since, and trims those that are too long.
func (l logs) grew(files []string) (any bool) {
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Size() == l[f] {
			continue
		}
		any, l[f] = true, info.Size()
		trim(f, longestLog)
	}
	return any
}

// trim cuts a file that is too long down to half of what it may be, in place: the
// program goes on writing to the same file, at its end. What it writes at this
// moment may be lost.
func trim(path string, longest int64) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() <= longest {
		return
	}
	end := make([]byte, longest/2)
	n, err := f.ReadAt(end, info.Size()-int64(len(end)))
	if err != nil || f.Truncate(0) != nil {
		return
	}
	_, _ = f.WriteAt(end[:n], 0)
}
