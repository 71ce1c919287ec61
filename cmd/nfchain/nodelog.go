package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// nodeLog is what a node's program writes, line by line.
type nodeLog struct {
	node, path string
	file       *os.File // nil until there is one
	in         *bufio.Reader
	// begun is a line that has no end yet.
	begun []byte
	// line is the next one, and at its time, or that of those beside it.
	line []byte
	at   time.Time
}

func (l *nodeLog) isThere() bool {
	_, err := os.Stat(l.path)
	return err == nil
}

// open the log if it is there. What was cut short since it was read is read from its new end.
func (l *nodeLog) open() error {
	if l.file != nil {
		return l.behindCut()
	}
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l.file, l.in = file, bufio.NewReader(file)
	if l.at, err = firstTime(file); err != nil {
		return err
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}

func (l *nodeLog) behindCut() error {
	at, err := l.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if info, err := l.file.Stat(); err != nil || info.Size() >= at {
		return err
	}
	l.begun = nil
	_, err = l.file.Seek(0, io.SeekEnd)
	return err
}

// next reads a line; at the log's end one that has no end of its own, too, where nothing will follow.
func (l *nodeLog) next(last bool) error {
	l.line = nil
	if l.file == nil {
		return nil
	}
	text, err := l.in.ReadBytes('\n')
	l.begun = append(l.begun, text...)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err == nil || last && len(l.begun) > 0 {
		l.line, l.begun = bytes.TrimSuffix(l.begun, []byte("\n")), nil
		if at, tells := timeOf(l.line); tells {
			l.at = at
		}
	}
	return nil
}

// mergeLogs gives what there is more in logs line by line: of those that come next the earliest, and of several at one time that of the
// first log. The lines of each stay in their order.
func mergeLogs(logs []*nodeLog, last bool, out func(*nodeLog, []byte) error) error {
	for _, l := range logs {
		if err := errors.Join(l.open(), l.next(last)); err != nil {
			return err
		}
	}
	for {
		l := earliest(logs)
		if l == nil {
			return nil
		}
		if err := out(l, l.line); err != nil {
			return err
		}
		if err := l.next(last); err != nil {
			return err
		}
	}
}

// earliest of the logs that have a line; nil where none has.
func earliest(logs []*nodeLog) (first *nodeLog) {
	for _, l := range logs {
		if l.line != nil && (first == nil || l.at.Before(first.at)) {
			first = l
		}
	}
	return first
}

// followLogs gives what is written until the context ends, and then what has no end.
func followLogs(ctx context.Context, logs []*nodeLog, out func(*nodeLog, []byte) error) error {
	for ctx.Err() == nil {
		if err := mergeLogs(logs, false, out); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(tailEvery):
		}
	}
	return mergeLogs(logs, true, out)
}

func closeLogs(logs []*nodeLog) {
	for _, l := range logs {
		if l.file != nil {
			_ = l.file.Close()
		}
	}
}

// firstTime that a log tells, which is at most that of the lines before; where it tells none, when it was last written to.
func firstTime(log *os.File) (time.Time, error) {
	in := bufio.NewReader(log)
	for {
		line, err := in.ReadBytes('\n')
		if at, tells := timeOf(line); tells {
			return at, nil
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return time.Time{}, err
		}
	}
	info, err := log.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// timed is a line that tells its time near its beginning, as RFC 3339 has it and as programs in Go and Python write it.
var timed = regexp.MustCompile(`^.{0,40}?\b(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?: ?(Z|UTC|[+-]\d\d):?(\d\d)?\b)?`)

// timeOf a line, that of this machine's zone where it names none.
func timeOf(line []byte) (at time.Time, tells bool) {
	m := timed.FindStringSubmatch(string(line[:min(len(line), 100)]))
	if m == nil {
		return time.Time{}, false
	}
	text, layout := fmt.Sprintf("%s-%s-%sT%s.%s0", m[1], m[2], m[3], m[4], m[5]), "2006-01-02T15:04:05"
	switch zone, minutes := m[6], m[7]; zone {
	case "":
	case "Z", "UTC":
		text, layout = text+"Z", time.RFC3339
	default:
		text, layout = text+zone+":"+cmp.Or(minutes, "00"), time.RFC3339
	}
	at, err := time.ParseInLocation(layout, text, time.Local)
	return at, err == nil
}
