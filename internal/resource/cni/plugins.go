package cni

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containernetworking/cni/libcni"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// within is how long the plugins of a network may take.
const within = time.Minute

// hosts runs something by a thread of the host's, wherever this one is: plugins are programs, which begin in the namespace of who
// starts them.
func hosts(do func(context.Context) error) error {
	done := make(chan error, 1)
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), within)
		defer stop()
		done <- do(ctx)
	}()
	return <-done
}

// plugins of the network, and what they are told of the attachment. What they tell is kept below the owner's directory.
func (s Spec) plugins(owner string) (*libcni.CNIConfig, *libcni.NetworkConfigList, *libcni.RuntimeConf, error) {
	list, err := Network(s.Network)
	if err != nil {
		return nil, nil, nil, err
	}
	about := &libcni.RuntimeConf{ContainerID: s.Namespace, NetNS: netns.Path(s.Namespace), IfName: s.Device}
	if !netns.Exists(s.Namespace) {
		about.NetNS = "" // it has gone, and what else belongs to it is to go
	}
	return libcni.NewCNIConfigWithCacheDir(s.Plugins, told(owner), nil), list, about, nil
}

// told is where libcni keeps what an owner's plugins told.
func told(owner string) string { return filepath.Join(rundir.Of(owner), "cni") }

// possible tells what of the plugins this machine lacks.
func (s Spec) possible() error {
	by, list, _, err := s.plugins("")
	if err != nil {
		return err
	}
	for _, name := range Types(list) {
		if !s.has(name) {
			return fmt.Errorf("CNI network %s: there is no plugin %s in %s; apt-get install containernetworking-plugins, or name its directory in cni.plugins", list.Name, name, strings.Join(s.Plugins, ", "))
		}
	}
	return hosts(func(ctx context.Context) error {
		if _, err := by.ValidateNetworkList(ctx, list); err != nil {
			return fmt.Errorf("CNI network %s: %w", list.Name, err)
		}
		return nil
	})
}

func (s Spec) has(plugin string) bool {
	for _, dir := range s.Plugins {
		if info, err := os.Stat(filepath.Join(dir, plugin)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// attach the namespace. Where the plugins cannot, because they know of one that went with a machine that was started anew, they are told
// to detach that, and asked once more. Of what they cannot do nothing is left.
func (s Spec) attach(owner string) error {
	by, list, about, err := s.plugins(owner)
	if err != nil {
		return err
	}
	err = hosts(func(ctx context.Context) error {
		_, err := by.AddNetworkList(ctx, list, about)
		if err == nil || by.DelNetworkList(ctx, list, about) != nil {
			return err
		}
		_, again := by.AddNetworkList(ctx, list, about)
		if again == nil {
			return nil
		}
		if again.Error() == err.Error() {
			return err
		}
		return fmt.Errorf("%w; and once more, after it was detached: %w", err, again)
	})
	if err == nil {
		return nil
	}
	// By time of its own: a plugin may have taken all there was. What is left after this the next detaching takes away.
	_ = hosts(func(ctx context.Context) error { return by.DelNetworkList(ctx, list, about) })
	return fmt.Errorf("attach namespace %s to CNI network %s: %w", s.Namespace, list.Name, err)
}

// detach it. Already gone is success, as plugins have it.
func (s Spec) detach(owner string) error {
	by, list, about, err := s.plugins(owner)
	if err != nil {
		return err
	}
	err = hosts(func(ctx context.Context) error { return by.DelNetworkList(ctx, list, about) })
	if err == nil {
		return nil
	}
	err = fmt.Errorf("detach namespace %s from CNI network %s: %w", s.Namespace, list.Name, err)
	for _, name := range Types(list) {
		if !s.has(name) {
			return fmt.Errorf("%w; put plugin %s back in %s, or, to leave what it made as it is, remove %s", err, name, strings.Join(s.Plugins, " or "), record(owner, s.Namespace))
		}
	}
	return err
}

// whole tells whether all of the plugins made what they make: libcni keeps what they told when the last has.
func (s Spec) whole(owner string) (bool, error) {
	_, list, about, err := s.plugins(owner)
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(filepath.Join(told(owner), kept(list, about)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return json.Valid(text), err
}

// kept is where libcni keeps what the plugins told of an attachment, below the directory that it is given.
func kept(list *libcni.NetworkConfigList, about *libcni.RuntimeConf) string {
	return filepath.Join("results", strings.Join([]string{list.Name, about.ContainerID, about.IfName}, "-"))
}

// check asks the plugins whether the attachment is as they made it; networks before version 0.4.0 are not asked.
func (s Spec) check(owner string) error {
	by, list, about, err := s.plugins(owner)
	if err != nil {
		return err
	}
	return hosts(func(ctx context.Context) error {
		err := by.CheckNetworkList(ctx, list, about)
		if err == nil || errors.Is(err, libcni.ErrorCheckNotSupp) {
			return nil
		}
		dir, is := s.readdressed(owner, list, about)
		if !is {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		return libcni.NewCNIConfigWithCacheDir(s.Plugins, dir, nil).CheckNetworkList(ctx, list, about)
	})
}

// readdressed is what the plugins told, in a directory of its own, with the link-layer addresses that interfaces of the host have by now: a
// bridge takes the lowest of its ports', so that one more changes it, of which plugins know nothing. It is false where none is another.
func (s Spec) readdressed(owner string, list *libcni.NetworkConfigList, about *libcni.RuntimeConf) (dir string, is bool) {
	name := kept(list, about)
	text, err := os.ReadFile(filepath.Join(told(owner), name))
	if err != nil {
		return "", false
	}
	var before map[string]any
	if json.Unmarshal(text, &before) != nil || !renew(before) {
		return "", false
	}
	if text, err = json.Marshal(before); err != nil {
		return "", false
	}
	if dir, err = os.MkdirTemp(told(owner), checkPrefix(s.Namespace)); err != nil { // others may check at the same time
		return "", false
	}
	if err := rundir.Keep(filepath.Join(dir, name), text, 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return "", false
	}
	return dir, true
}

// checkPrefix begins the directories of checks of a namespace.
func checkPrefix(namespace string) string { return "now-" + namespace + ":" }

// renew the link-layer addresses of the host's interfaces in what libcni keeps; it tells whether one has another.
func renew(kept map[string]any) (is bool) {
	host, err := netns.Open(netns.Host)
	if err != nil {
		return false
	}
	defer host.Close()
	result, _ := kept["result"].(map[string]any)
	interfaces, _ := result["interfaces"].([]any)
	for _, i := range interfaces {
		of, _ := i.(map[string]any)
		name, _ := of["name"].(string)
		if within, _ := of["sandbox"].(string); within != "" || name == "" {
			continue
		}
		if l, err := host.LinkByName(name); err == nil && of["mac"] != l.Attrs().HardwareAddr.String() {
			of["mac"], is = l.Attrs().HardwareAddr.String(), true
		}
	}
	return is
}
