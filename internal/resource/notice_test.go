package resource_test

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// TestNotice: a kernel that can has both ends of a new pair up as soon as it is asked for
// each, and says so in its next list.
func TestNotice(t *testing.T) {
	for range 5 {
		p := joined(t)
		for ns, device := range map[string]string{p.a: p.spec.A.Device, p.b: p.spec.B.Device} {
			at := p.at(t, ns)
			if _, err := at.Notice(device); err != nil {
				t.Fatal(err)
			}
			l, err := at.Device(device)
			if err != nil {
				t.Fatal(err)
			}
			if state := l.Attrs().OperState; state != netlink.OperUp && notices(t) {
				t.Errorf("%s is %v", device, state)
			}
		}
	}
	if _, err := joinedAt(t).Notice("gone"); err == nil {
		t.Error("an interface that is not there was read")
	}
}

func joinedAt(t *testing.T) resource.Place {
	p := joined(t)
	return p.at(t, p.a)
}

// notices tells a kernel that acts on a question: Linux 6.8.
func notices(t *testing.T) bool {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	return major > 6 || major == 6 && minor >= 8
}
