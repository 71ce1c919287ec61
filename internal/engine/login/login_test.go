package login

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/distribution/reference"
)

// name of an image.
func name(t *testing.T, text string) reference.Named {
	t.Helper()
	n, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kept is a file with this in it.
func kept(t *testing.T, text string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// program that keeps logins, as a script.
func program(t *testing.T, suffix, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker-credential-"+suffix), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestOfItsRegistry: an image gets the login to its registry, the one that is kept closest to it, and to no other.
func TestOfItsRegistry(t *testing.T) {
	entry := func(key, auth string) string { return fmt.Sprintf("%q: {\"auth\": %q}", key, auth) }
	const one, two = "b25lOnNlY3JldDo=", "dHdvOnNlY3JldA==" // one:secret: and two:secret
	hosts := kept(t, `{"auths": {`+strings.Join([]string{entry("box.test:5000", one), entry("https://old.test/v1/", two), entry(hubAddress, one), `"empty.test": {}`}, ",")+`}}`)
	parts := kept(t, `{"auths": {`+strings.Join([]string{entry("box.test/team", one), entry("box.test", two), entry(Hub+"/team", two)}, ",")+`}}`)
	tokens := kept(t, `{"auths": {"box.test": {"identitytoken": "t"}, "other.test": {"registrytoken": "r"}}}`)
	for _, c := range []struct {
		image, file string
		want        Login
	}{
		{"box.test:5000/team/a:1", hosts, Login{Username: "one", Password: "secret:"}},
		{"box.test/team/a:1", hosts, Login{}}, {"box.test:5001/a", hosts, Login{}}, {"x.box.test:5000/a", hosts, Login{}}, {"empty.test/a", hosts, Login{}},
		{"old.test/a", hosts, Login{Username: "two", Password: "secret"}},
		{"nginx", hosts, Login{Username: "one", Password: "secret:"}}, {"team/a", hosts, Login{Username: "one", Password: "secret:"}},
		{"box.test/team/a", parts, Login{Username: "one", Password: "secret:"}}, {"box.test/team", parts, Login{Username: "one", Password: "secret:"}},
		{"box.test/teams/a", parts, Login{Username: "two", Password: "secret"}},
		{"team/a", parts, Login{Username: "two", Password: "secret"}}, {"nginx", parts, Login{}},
		{"box.test/a", tokens, Login{Token: "t"}}, {"other.test/a", tokens, Login{RegistryToken: "r"}},
		{"box.test/a", filepath.Join(t.TempDir(), "nowhere"), Login{}},
	} {
		if c.want != (Login{}) {
			c.want.From = c.file
		}
		if got, err := Find(t.Context(), name(t, c.image), []string{c.file}); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", c.image, got, err, c.want)
		}
	}
}

// TestFirstFile: the first file that has a login is taken, and what is wrong with those before it is told.
func TestFirstFile(t *testing.T) {
	none, broken := kept(t, `{}`), kept(t, `{"auths": {"box.test": {"auth": "secret:no-base64"}}}`)
	has, later := kept(t, `{"auths": {"box.test": {"auth": "b25lOjE="}}}`), kept(t, `{"auths": {"box.test": {"auth": "dHdvOjI="}}}`)
	got, err := Find(t.Context(), name(t, "box.test/a"), []string{none, broken, has, later})
	if got.Username != "one" || got.From != has || err == nil || !strings.Contains(err.Error(), broken+": it is not as `docker login` writes it") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"{", `{"auths": 1}`, `{"auths": {"box.test": {"auth": "b25l"}}}`} {
		if got, err := Find(t.Context(), name(t, "box.test/a"), []string{kept(t, text)}); got != (Login{}) || err == nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestPrograms: a program is asked for the registry that it keeps the login to, or for all, and what goes wrong with it names it, its file, and no secret.
func TestPrograms(t *testing.T) {
	program(t, "all", `read at <&0; echo "{\"ServerURL\": \"$at\", \"Username\": \"all\", \"Secret\": \"$1 $at\"}"`)
	program(t, "one", `cat >/dev/null; echo '{"Username": "<token>", "Secret": "t"}'`)
	program(t, "none", `cat >/dev/null; echo 'credentials not found in native keychain'; exit 1`)
	program(t, "fails", `cat >/dev/null; echo 'the store is locked'; exit 3`)
	program(t, "tells", `cat >/dev/null; echo '{"Username": "u", "Secret": "hush"}'; exit 3`)
	program(t, "speaks", `cat >/dev/null; echo 'nobody answers' >&2; exit 3`)
	program(t, "odd", `cat >/dev/null; echo hush`)
	program(t, "hangs", `cat >/dev/null; sleep 1000 & wait`)
	const also = `"auths": {"box.test": {"auth": "b25lOjE="}}`
	for _, c := range []struct {
		text, image string
		want        Login
		wrong       string
	}{
		{`{"credsStore": "all"}`, "box.test:5000/a", Login{Username: "all", Password: "get box.test:5000", From: "docker-credential-all, which FILE names"}, ""},
		{`{"credsStore": "all", ` + also + `}`, "a", Login{Username: "all", Password: "get " + hubAddress, From: "docker-credential-all, which FILE names"}, ""},
		{`{"credsStore": "fails", "credHelpers": {"box.test": "one"}}`, "box.test/a", Login{Token: "t", From: "docker-credential-one, which FILE names"}, ""},
		{`{"credsStore": "none", "credHelpers": {"other.test": "fails"}}`, "box.test/a", Login{}, ""},
		{`{"credHelpers": {"other.test": "fails"}, ` + also + `}`, "box.test/a", Login{Username: "one", Password: "1", From: "FILE"}, ""},
		{`{"credsStore": "none", ` + also + `}`, "box.test/a", Login{Username: "one", Password: "1", From: "FILE"}, ""},
		{`{"credsStore": "fails"}`, "box.test/a", Login{}, "FILE: docker-credential-fails failed: exit status 3: the store is locked; see what it says (echo box.test | docker-credential-fails get)"},
		{`{"credsStore": "speaks"}`, "box.test/a", Login{}, "FILE: docker-credential-speaks failed: exit status 3: nobody answers; see"},
		{`{"credsStore": "tells"}`, "box.test/a", Login{}, "FILE: docker-credential-tells failed: exit status 3; see"},
		{`{"credsStore": "odd"}`, "box.test/a", Login{}, "FILE: docker-credential-odd answers as no such program does"},
		{`{"credsStore": "hangs"}`, "box.test/a", Login{}, "FILE: docker-credential-hangs has not answered within 500ms; see what it waits for (echo box.test | docker-credential-hangs get)"},
		{`{"credsStore": "missing"}`, "box.test/a", Login{}, "FILE: there is no program docker-credential-missing in PATH"},
	} {
		file := kept(t, c.text)
		began := time.Now()
		takes := helperTakes
		if strings.Contains(c.text, "hangs") {
			takes = 500 * time.Millisecond
		}
		c.want.From = strings.ReplaceAll(c.want.From, "FILE", file)
		got, err := find(t.Context(), name(t, c.image), []string{file}, takes)
		if got != c.want || (err != nil) != (c.wrong != "") || err != nil && (!strings.Contains(err.Error(), strings.ReplaceAll(c.wrong, "FILE", file)) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %+v, %v", c.text, got, err)
		}
		if took := time.Since(began); took > helperTakes/2 {
			t.Errorf("%s: it took %v", c.text, took)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	if got, err := Find(ctx, name(t, "box.test/a"), []string{kept(t, `{"credsStore": "hangs"}`)}); got != (Login{}) || err == nil {
		t.Errorf("nobody waits any more: %+v, %v", got, err)
	}
}

// TestFiles: they are where the tools keep logins, as the environment says.
func TestFiles(t *testing.T) {
	own := fmt.Sprintf("/run/containers/%d/auth.json", os.Getuid())
	for _, c := range []struct {
		home, docker, registry, runtime, config string
		dockers, podmans                        []string
	}{
		{"/h", "", "", "", "", []string{"/h/.docker/config.json"}, []string{own, "/h/.config/containers/auth.json", "/h/.docker/config.json"}},
		{"/h", "/d", "", "/r", "/c", []string{"/d/config.json"}, []string{"/r/containers/auth.json", "/c/containers/auth.json", "/d/config.json"}},
		{"/h", "", "/a.json", "/r", "", []string{"/h/.docker/config.json"}, []string{"/a.json"}},
		{"", "", "", "", "", nil, []string{own}},
	} {
		for name, value := range map[string]string{"HOME": c.home, "DOCKER_CONFIG": c.docker, "REGISTRY_AUTH_FILE": c.registry, "XDG_RUNTIME_DIR": c.runtime, "XDG_CONFIG_HOME": c.config} {
			t.Setenv(name, value)
		}
		if d, p := DockerFiles(), PodmanFiles(); !slices.Equal(d, c.dockers) || !slices.Equal(p, c.podmans) {
			t.Errorf("%+v: %v, %v", c, d, p)
		}
	}
}

// TestAll: who is to fetch images that nobody knows yet gets each login, of the first file that has it, and of programs too.
func TestAll(t *testing.T) {
	program(t, "keeps", `read at; case "$at" in
box.test) echo '{"Username": "kept", "Secret": "s"}';;
token.test) echo '{"Username": "<token>", "Secret": "t"}';;
*) echo credentials not found in native keychain; exit 1;;
esac`)
	program(t, "fails", "echo the store is locked; exit 3")
	first := kept(t, `{"auths": {"box.test": {}, "plain.test": {"auth": "b25lOnNlY3JldA=="}, "none.test": {}}, "credsStore": "keeps", "credHelpers": {"token.test": "keeps", "shut.test": "fails"}}`)
	second := kept(t, `{"auths": {"plain.test": {"auth": "dHdvOnNlY3JldA=="}, "more.test": {"auth": "dHdvOnNlY3JldA=="}}}`)
	all, err := All(t.Context(), []string{first, "/nowhere", second, kept(t, "{")})
	if err == nil || !strings.Contains(err.Error(), "docker-credential-fails failed") || !strings.Contains(err.Error(), "it is not as `docker login` writes it") {
		t.Errorf("error %v", err)
	}
	want := map[string]Login{
		"box.test": {Username: "kept", Password: "s"}, "token.test": {Token: "t"}, "plain.test": {Username: "one", Password: "secret"}, "more.test": {Username: "two", Password: "secret"},
	}
	for address, one := range all {
		if one.From == "" {
			t.Errorf("%s: nothing says where it is from", address)
		}
		one.From = ""
		if one != want[address] {
			t.Errorf("%s: %+v, want %+v", address, one, want[address])
		}
	}
	if len(all) != len(want) {
		t.Errorf("%d logins, want %d", len(all), len(want))
	}
}
