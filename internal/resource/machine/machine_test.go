package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// knob is a setting of a machine that is a directory: two files, with other values.
func knob(t *testing.T) (name string, files []string) {
	t.Helper()
	nstest.Root(t)
	dir := t.TempDir()
	for i, was := range []string{"powersave\n", "schedutil\n"} {
		files = append(files, filepath.Join(dir, string(rune('a'+i))))
		put(t, files[i], was)
	}
	name = "knob-" + filepath.Base(filepath.Dir(dir))
	before := settings
	settings = append(settings[:len(settings):len(settings)], setting{name, func(string) []string { return files }, ""})
	t.Cleanup(func() { settings = before })
	return name, files
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func place(t *testing.T) resource.Place {
	t.Helper()
	p := resource.Place{Handle: &netns.Handle{}, Owner: nstest.Owner(t)}
	t.Cleanup(func() {
		if err := Restore(p.Owner); err != nil {
			t.Error(err)
		}
		_ = os.Remove(filepath.Join(records, p.Owner))
	})
	return p
}

func apply(p resource.Place, op resource.Op, s Spec) error {
	s.Owner = p.Owner
	return (Kind{}).Apply(p, []resource.Change{{Op: op, Key: s.Key(), Spec: s}})
}

// holds fails unless the files have these values, and the owner this and no more.
func holds(t *testing.T, p resource.Place, files []string, first, second, observed string) {
	t.Helper()
	if a, b := value(files[0]), value(files[1]); a != first || b != second {
		t.Errorf("%s and %s, want %s and %s", a, b, first, second)
	}
	found, err := (Kind{}).Read(p)
	if err != nil {
		t.Fatal(err)
	}
	have := ""
	for _, f := range found {
		have += f.Fingerprint
	}
	if have != observed {
		t.Errorf("observed %q, want %q", have, observed)
	}
}

// TestSetting is set, changed, lost to another's hand, and put back.
func TestSetting(t *testing.T) {
	name, files := knob(t)
	p := place(t)
	holds(t, p, files, "powersave", "schedutil", "")
	for _, v := range []string{"performance", "performance", "ondemand"} {
		if err := apply(p, resource.Create, Spec{Setting: name, Value: v}); err != nil {
			t.Fatal(err)
		}
		holds(t, p, files, v, v, v)
	}
	put(t, files[1], "conservative\n")
	holds(t, p, files, "ondemand", "conservative", "conservative and ondemand")
	for range 2 { // putting back what is back succeeds
		if err := apply(p, resource.Delete, Spec{Setting: name}); err != nil {
			t.Fatal(err)
		}
		holds(t, p, files, "powersave", "schedutil", "")
	}
}

// TestKilledBetween what is written down and what is set.
func TestKilledBetween(t *testing.T) {
	name, files := knob(t)
	p := place(t)
	s := Spec{Owner: p.Owner, Setting: name, Value: "performance"}
	r, err := describe(s, files)
	if err != nil {
		t.Fatal(err)
	}
	if err := save(p.Owner, r); err != nil {
		t.Fatal(err)
	}
	put(t, files[0], "performance") // and killed before the second
	if err := apply(p, resource.Create, s); err != nil {
		t.Fatal(err)
	}
	holds(t, p, files, "performance", "performance", "performance")
	if err := Restore(p.Owner); err != nil {
		t.Fatal(err)
	}
	holds(t, p, files, "powersave", "schedutil", "")
}

// TestOneChainAtATime: the second would write down what the first has set.
func TestOneChainAtATime(t *testing.T) {
	name, files := knob(t)
	p, q := place(t), place(t)
	if err := apply(p, resource.Create, Spec{Setting: name, Value: "performance"}); err != nil {
		t.Fatal(err)
	}
	second := Spec{Owner: q.Owner, Setting: name, Value: "ondemand"}
	for what, err := range map[string]error{"possible": (Kind{}).Possible([]resource.Spec{second}), "apply": apply(q, resource.Create, second)} {
		if err == nil || !strings.Contains(err.Error(), "chain "+p.Owner+" has set it") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	holds(t, q, files, "performance", "performance", "")
	if err := Restore(p.Owner); err != nil {
		t.Fatal(err)
	}
	if err := apply(q, resource.Create, second); err != nil {
		t.Error(err)
	}
}

// TestMissingSetting is refused by name, before anything is made.
func TestMissingSetting(t *testing.T) {
	nstest.Root(t)
	for _, s := range []Spec{{Setting: Interrupts, Device: "nfchain-none"}, {Setting: "colour"}} {
		s.Owner = nstest.Owner(t)
		if err := (Kind{}).Possible([]resource.Spec{s}); err == nil || !strings.Contains(err.Error(), s.Setting) {
			t.Errorf("%v: error %v", s, err)
		}
	}
}

// TestInterrupts finds those of a card, or of the bus device that it is part of.
func TestInterrupts(t *testing.T) {
	root := t.TempDir() + "/"
	for _, dir := range []string{"sys/pci/msi_irqs", "sys/pci/virtio", "sys/class/net/eth1", "sys/class/net/eth2", "proc/irq/30", "proc/irq/31"} {
		if err := os.MkdirAll(root+dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"sys/pci/msi_irqs/30", "sys/pci/msi_irqs/31", "sys/pci/msi_irqs/32", "proc/irq/30/smp_affinity_list", "proc/irq/31/smp_affinity_list"} {
		put(t, root+file, "0-1\n")
	}
	for device, to := range map[string]string{"eth1": "sys/pci", "eth2": "sys/pci/virtio"} {
		if err := os.Symlink(root+to, root+"sys/class/net/"+device+"/device"); err != nil {
			t.Fatal(err)
		}
	}
	for device, want := range map[string]int{"eth1": 2, "eth2": 2, "eth3": 0} {
		if got := interrupts(root, device); len(got) != want {
			t.Errorf("%s: %v", device, got)
		}
	}
}

// TestExpeditedInVain: where the kernel is told elsewhere that no grace period is to be short, to have them short is refused, and else not.
func TestExpeditedInVain(t *testing.T) {
	had, normal := overruled, filepath.Join(t.TempDir(), "rcu_normal")
	t.Cleanup(func() { overruled = had })
	overruled = map[string]string{Expedited: normal}
	for _, c := range []struct{ normal, value, want string }{
		{"1\n", "1", "rcu_normal is 1 on this machine, and wins"}, {"1\n", "0", ""}, {"0\n", "1", ""},
	} {
		put(t, normal, c.normal)
		err := Kind{}.Possible([]resource.Spec{Spec{Owner: "edge", Setting: Expedited, Value: c.value}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}
