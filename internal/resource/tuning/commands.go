package tuning

import (
	"fmt"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
)

// Commands implements resource.Spec. There are none where a command is missing for a part
// of it, so that nfchain makes it whole. They cannot keep what was there before.
func (s Spec) Commands(ns string) []resource.Command {
	var all []resource.Command
	was := mark{}
	for _, k := range knobs {
		value, set := s.value(k.name)
		if !set {
			continue
		}
		if k.command == nil {
			return nil
		}
		was[k.code] = ""
		all = append(all, k.command(ns, s.Device, value))
	}
	return append(all, resource.IP(ns, "link", "property", "add", "dev", s.Device, "altname", was.name(s.Device)))
}

// ethtool(8) has words of its own for what it switches.
func switchCommand(name string) func(ns, device, value string) resource.Command {
	return func(ns, device, value string) resource.Command {
		word := "off"
		if value == on {
			word = "on"
		}
		return resource.In(ns, "ethtool", "-K", device, name, word)
	}
}

func queueCommand(name string) func(ns, device, value string) resource.Command {
	return func(ns, device, value string) resource.Command {
		return resource.In(ns, "ethtool", "-L", device, name, value)
	}
}

// linkCommand sets what ip(8) has an argument of the same name for.
func linkCommand(name string) func(ns, device, value string) resource.Command {
	return func(ns, device, value string) resource.Command {
		return resource.IP(ns, "link", "set", device, name, value)
	}
}

// maskCommand writes a file of every queue. Below /sys, ip-netns(8) has the namespace's own.
func maskCommand(kind, file string) func(ns, device, value string) resource.Command {
	return func(ns, device, value string) resource.Command {
		text, _ := maskOf(value) // a plan has no other lists
		return resource.In(ns, "sh", "-c", fmt.Sprintf("for f in /sys/class/net/%s/queues/%s-*/%s; do echo %s > $f; done", device, kind, file, text))
	}
}

func threadedCommand(ns, device, value string) resource.Command {
	return resource.In(ns, "sh", "-c", fmt.Sprintf("echo %s > /sys/class/net/%s/threaded", digit(value), device))
}

func settingCommand(file string, words map[string]string) func(ns, device, value string) resource.Command {
	return func(ns, _, value string) resource.Command {
		if theirs, is := words[value]; is {
			value = theirs
		}
		return resource.In(ns, "sysctl", "-qw", "net.ipv4."+strings.ReplaceAll(file, "/", ".")+"="+value)
	}
}

func digit(value string) string {
	if value == on {
		return "1"
	}
	return "0"
}
