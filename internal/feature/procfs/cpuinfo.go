package procfs

import "strings"

// CPUInfo is the first processor of /proc/cpuinfo, field by field as the kernel
// names them, and the number of processors listed.
type CPUInfo struct {
	Fields     map[string]string
	Processors int
}

// CPUInfo reads /proc/cpuinfo. An unreadable file gives no fields.
func (r Root) CPUInfo() CPUInfo {
	s, _ := r.Text("proc/cpuinfo")
	return ParseCPUInfo(s)
}

// ParseCPUInfo reads the text of /proc/cpuinfo.
func ParseCPUInfo(s string) CPUInfo {
	info := CPUInfo{Fields: map[string]string{}}
	for line := range strings.Lines(s) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "processor" {
			info.Processors++
		}
		if _, seen := info.Fields[key]; !seen && value != "" {
			info.Fields[key] = value
		}
	}
	return info
}

// Flag tells whether the processor has a flag of x86's "flags" line.
func (c CPUInfo) Flag(name string) bool {
	for f := range strings.FieldsSeq(c.Fields["flags"]) {
		if f == name {
			return true
		}
	}
	return false
}
