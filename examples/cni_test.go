package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containernetworking/cni/libcni"
	cni "github.com/containernetworking/cni/pkg/types/100"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestCNI: a runtime puts containers into the chain by the networks of the example, and takes them out again.
func TestCNI(t *testing.T) {
	nstest.Root(t)
	nfchain := build(t)
	file := unique(t, decoded(t)["cni.yaml"])
	path := write(t, file)
	requires(t, nfchain, path)
	name := file.Chains[0].Metadata.Name
	t.Cleanup(func() {
		nfchain.run(t, "down", name)
		gone(t, file)
	})
	runtime := libcni.NewCNIConfigWithCacheDir([]string{filepath.Dir(string(nfchain))}, t.TempDir(), nil)
	containers, addresses := map[string]string{}, map[string][]string{}
	roles := []string{"client", "server"}
	attachment := func(role string) (*libcni.NetworkConfigList, *libcni.RuntimeConf) {
		text, err := os.ReadFile(filepath.Join("cni", role+".conflist"))
		if err != nil {
			t.Fatal(err)
		}
		list, err := libcni.NetworkConfFromBytes([]byte(strings.ReplaceAll(string(text), "/etc/nfchain/pod-edge.yaml", path)))
		if err != nil {
			t.Fatal(err)
		}
		return list, &libcni.RuntimeConf{ContainerID: "container-" + role, NetNS: netns.Path(containers[role]), IfName: "eth0"}
	}
	for _, role := range roles {
		containers[role] = nstest.Namespace(t)
		list, rt := attachment(role)
		given, err := runtime.AddNetworkList(context.Background(), list, rt)
		if err != nil {
			t.Fatal(err)
		}
		result, err := cni.NewResultFromResult(given)
		if err != nil {
			t.Fatal(err)
		}
		for _, ip := range result.IPs {
			addresses[role] = append(addresses[role], ip.Address.IP.String())
		}
	}
	for _, role := range roles {
		list, rt := attachment(role)
		if err := runtime.CheckNetworkList(context.Background(), list, rt); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	if len(addresses["server"]) != 2 {
		t.Errorf("addresses %v", addresses)
	}
	for _, to := range addresses["server"] {
		var out []byte
		err := netns.Do(containers["client"], func() (err error) {
			out, err = exec.Command("ping", "-c", "1", "-W", "20", to).CombinedOutput()
			return err
		})
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	for _, role := range roles {
		list, rt := attachment(role)
		if err := runtime.DelNetworkList(context.Background(), list, rt); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	gone(t, file)
	if _, err := os.Stat("/run/nfchain/" + name); err == nil {
		t.Errorf("something is left of %s", name)
	}
}
