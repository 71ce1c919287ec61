package feature

import "strings"

// limitNames are the limits that a chain or a tool can run into, by the kernel's
// words in /proc/PID/limits.
var limitNames = map[string]string{
	"Max cpu time":          "cpu",
	"Max stack size":        "stack",
	"Max resident set":      "rss",
	"Max processes":         "nproc",
	"Max open files":        "nofile",
	"Max locked memory":     "memlock",
	"Max address space":     "as",
	"Max nice priority":     "nice",
	"Max realtime priority": "rtprio",
	"Max realtime timeout":  "rttime",
}

// limits are this process's own, as "soft / hard"; nil where they cannot be read.
func (e Env) limits() map[string]string {
	text, ok := e.Files.Text("proc/self/limits")
	if !ok {
		return nil
	}
	return parseLimits(text)
}

// parseLimits reads the text of /proc/PID/limits (proc_pid_limits(5)).
func parseLimits(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		for words, name := range limitNames {
			rest, ok := strings.CutPrefix(line, words+" ")
			if f := strings.Fields(rest); ok && len(f) >= 2 {
				found[name] = f[0] + " / " + f[1]
			}
		}
	}
	return found
}

// container names what kind of container this process runs in, by the marks that
// their makers leave; empty where none is seen.
func (e Env) container() string {
	for _, mark := range []struct{ file, name string }{
		{"var/run/secrets/kubernetes.io", "Kubernetes"},
		{".dockerenv", "Docker"},
		{"run/.containerenv", "Podman"},
	} {
		if e.Files.Exists(mark.file) {
			return mark.name
		}
	}
	if kind := e.text("run/systemd/container"); kind != "" {
		return kind
	}
	for word := range strings.SplitSeq(e.text("proc/1/environ"), "\x00") {
		if kind, ok := strings.CutPrefix(word, "container="); ok {
			return kind
		}
	}
	return ""
}

// firmware is the maker, version and date of the BIOS or UEFI.
func (e Env) firmware() string {
	const dmi = "sys/class/dmi/id/"
	return strings.Join(strings.Fields(e.text(dmi+"bios_vendor")+" "+e.text(dmi+"bios_version")+" "+e.text(dmi+"bios_date")), " ")
}
