package tuning

import (
	"os"
	"strings"
)

// tcp is what connections start from: all of a namespace but the segment size, which
// is a matter of the way out.
var tcp = []knob{
	setting("tcp_congestion_control", "cc", "tcp_congestion_control", nil,
		"`sysctl net.ipv4.tcp_available_congestion_control` lists what the kernel has, and a namespace may only use what the host's net.ipv4.tcp_allowed_congestion_control names or the host itself uses"),
	setting("tcp_window_scaling", "ws", "tcp_window_scaling", map[string]string{off: "0", on: "1"}, ""),
	setting("tcp_rmem", "rb", "tcp_rmem", nil, ""),
	setting("tcp_wmem", "wb", "tcp_wmem", nil, ""),
}

// setting of a namespace by the name of its file; words translate values where the
// kernel has others.
func setting(name, code, file string, words map[string]string, hint string) knob {
	path := "/proc/sys/net/ipv4/" + file
	return knob{
		name: name, code: code, hint: hint, command: settingCommand(file, words),
		read: func(at *port) (value string, err error) {
			err = at.Do(func() error {
				text, err := os.ReadFile(path)
				value = strings.Join(strings.Fields(string(text)), " ")
				return err
			})
			for ours, theirs := range words {
				if value == theirs {
					return ours, err
				}
			}
			return value, err
		},
		write: func(at *port, value string) error {
			if theirs, is := words[value]; is {
				value = theirs
			}
			return at.Do(func() error { return os.WriteFile(path, []byte(value), 0) })
		},
	}
}
