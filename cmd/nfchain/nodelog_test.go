package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMergesLogs: what several logs have is in order of the times that their lines tell, and what a line tells none of stays where it was.
func TestMergesLogs(t *testing.T) {
	for name, c := range map[string]struct {
		logs []string
		want string
	}{
		"nothing":        {[]string{"", ""}, ""},
		"times":          {[]string{"2026-11-21T10:00:01Z a\n2026-11-21T10:00:03Z c\n", "nfchain, 2026-11-21T10:00:02.5Z: b\n"}, "0 a,1 b,0 c"},
		"beside others":  {[]string{"2026-11-21T10:00:01Z a\nb\n2026-11-21T10:00:03Z d\n", "2026-11-21T10:00:02Z c\n"}, "0 a,0 b,1 c,0 d"},
		"before others":  {[]string{"b\n2026-11-21T10:00:03Z c\n", "2026-11-21T10:00:02Z a\n"}, "1 a,0 b,0 c"},
		"without end":    {[]string{"2026-11-21T10:00:02Z b", "2026-11-21T10:00:01Z a"}, "1 a,0 b"},
		"empty lines":    {[]string{"\n\na\n", ""}, "0 ,0 ,0 a"},
		"written to":     {[]string{"b\n", "2026-11-21T08:59:00Z a\n2026-11-21T09:01:00Z c\n"}, "1 a,0 b,1 c"},
		"out of order":   {[]string{"2026-11-21T10:00:03Z b\n2026-11-21T10:00:01Z c\n", "2026-11-21T10:00:02Z a\n"}, "1 a,0 b,0 c"},
		"one has none":   {[]string{"2026-11-21T10:00:03Z a\n", "-"}, "0 a"},
		"zones and ways": {[]string{"2026-11-21 10:00:03 +0000 c\n", "[2026/11/21 11:00:01,25+01:00] a\n2026-11-21 10:00:02 UTC b\n"}, "1 a,1 b,0 c"},
	} {
		t.Run(name, func(t *testing.T) {
			logs := someLogs(t, c.logs)
			defer closeLogs(logs)
			if got := merged(t, logs, true); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// someLogs with these texts, written at nine o'clock; "-" is none.
func someLogs(t *testing.T, texts []string) (logs []*nodeLog) {
	t.Helper()
	dir, nine := t.TempDir(), time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for i, text := range texts {
		l := &nodeLog{node: fmt.Sprint(i), path: filepath.Join(dir, fmt.Sprint(i))}
		logs = append(logs, l)
		if text == "-" {
			continue
		}
		write(t, l, text)
		if err := os.Chtimes(l.path, nine, nine); err != nil {
			t.Fatal(err)
		}
	}
	return logs
}

// write behind what is in a log.
func write(t *testing.T, l *nodeLog, text string) {
	t.Helper()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// merged are the last words of what logs have, each behind its node.
func merged(t *testing.T, logs []*nodeLog, last bool) string {
	t.Helper()
	var lines []string
	err := mergeLogs(logs, last, func(l *nodeLog, line []byte) error {
		lines = append(lines, l.node+" "+string(line[strings.LastIndexByte(string(line), ' ')+1:]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, ",")
}

// TestMergesWhatIsWrittenLater: whole lines alone, those of a log that comes to be, and what is behind the place where one was cut.
func TestMergesWhatIsWrittenLater(t *testing.T) {
	logs := someLogs(t, []string{"a\nb", "-"})
	defer closeLogs(logs)
	told := []string{merged(t, logs, false)}
	write(t, logs[0], "egun\n")
	write(t, logs[1], "new\n")
	told = append(told, merged(t, logs, false))
	if err := os.Truncate(logs[0].path, 0); err != nil {
		t.Fatal(err)
	}
	write(t, logs[0], "kept\n")
	told = append(told, merged(t, logs, false))
	write(t, logs[0], "more\n")
	write(t, logs[1], "rest")
	told = append(told, merged(t, logs, false), merged(t, logs, true))
	if got, want := strings.Join(told, ";"), "0 a;0 begun,1 new;;0 more;1 rest"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
