package link

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// hush is the word for a quiet end, in aliases too: only where it is there is the setting
// read, which takes a look into the namespace.
func hush(quiet bool) string {
	if quiet {
		return " quiet"
	}
	return ""
}

// setting is the file that switches IPv6 off at an interface.
func setting(device string) string { return "/proc/sys/net/ipv6/conf/" + device + "/disable_ipv6" }

// silence an interface that is not up yet. A kernel without IPv6 says nothing anyway.
func silence(h *netns.Handle, device string) error {
	err := h.Do(func() error { return os.WriteFile(setting(device), []byte("1"), 0) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("switch IPv6 off at interface %s of namespace %q: %w", device, h.Ref, err)
	}
	return nil
}

// quiet tells whether an interface that is to be quiet is.
func quiet(p resource.Place, a *netlink.LinkAttrs) (is bool) {
	if !strings.HasSuffix(a.Alias, hush(true)) {
		return false
	}
	_ = p.Do(func() error {
		text, err := os.ReadFile(setting(a.Name))
		is = errors.Is(err, fs.ErrNotExist) || strings.TrimSpace(string(text)) == "1"
		return nil
	})
	return is
}
