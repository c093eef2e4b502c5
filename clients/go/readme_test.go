package mcpmemory_test

import (
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blocks are the code blocks of the README in a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		found = append(found, block[1])
	}
	return found
}

// TestReadme installs the client as the README says and runs each of its programs, with the address of a real server
// in place of that in the README.
func TestReadme(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	server := startServer(t)
	front := overTLS(t, "127.0.0.1:"+server.port)
	folder := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, arguments ...string) string {
		t.Helper()
		command := exec.Command(name, arguments...)
		command.Dir = folder
		command.Env = append(environment(folder), "GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off", "GOPROXY=off",
			"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"),
			"PATH="+filepath.Join(folder, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("%s %q: %v\n%s", name, arguments, err, out)
		}
		return string(out)
	}

	sums, err := os.ReadFile("go.sum") // what the network would be asked for
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sums), 0o644)
	write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})), 0o644)
	write("bin/polymnia", "#!/bin/sh\nexec '"+strings.Join(polymnia(t), "' '")+"' \"$@\"\n", 0o755)
	installed := 0
	for _, block := range blocks(t, "sh") {
		for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
			if words := strings.Fields(strings.ReplaceAll(line, "../polymnia/clients/go", here)); words[0] == "go" {
				run(tool, words[1:]...)
				installed++
			}
		}
	}
	if installed != 3 {
		t.Errorf("%d commands install the client", installed)
	}

	address := strings.NewReplacer("localhost:9080", "127.0.0.1:"+server.port, "memory.example:9443", front.Listener.Addr().String())
	programs := blocks(t, "go")
	for i, block := range programs {
		if !strings.HasPrefix(block, "package main\n") {
			t.Errorf("this is not a program:\n%s", block)
		}
		write(fmt.Sprintf("program%d/main.go", i), address.Replace(block), 0o644)
	}
	run(tool, "build", "-o", filepath.Join(folder, "built")+string(filepath.Separator), "./...")
	said := ""
	for i := range programs {
		said += run(filepath.Join(folder, "built", fmt.Sprintf("program%d", i)))
	}
	for _, part := range []string{"Important information to remember", "memory://memory/Ann has changed", "There is none:"} {
		if !strings.Contains(said, part) {
			t.Errorf("no program said %q:\n%s", part, said)
		}
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
