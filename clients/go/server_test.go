package mcpmemory_test

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	mcpmemory "github.com/polymnia/polymnia-go"
)

// polymnia is the command of the server: that of POLYMNIA, else that of the checkout this module lies in.
func polymnia(t testing.TB) []string {
	t.Helper()
	if command := strings.Fields(os.Getenv("POLYMNIA")); len(command) > 0 {
		return command
	}
	python, err := filepath.Abs("../../.venv/bin/python")
	if err == nil {
		_, err = os.Stat(python)
	}
	if err != nil {
		t.Skip("there is no server: set POLYMNIA to its command, or make ../../.venv")
	}
	return []string{python, "-m", "polymnia"}
}

// environment is that of this process without what would change a server.
func environment(folder string) []string {
	var found []string
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "POLYMNIA") {
			found = append(found, one)
		}
	}
	return append(found, "XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CACHE_HOME="+folder)
}

// server is a `polymnia serve` with a store of its own.
type server struct {
	t       testing.TB
	folder  string
	options []string
	port    string
	process *exec.Cmd
}

var plenty = []string{"--rate-limit", "1000000", "--rate-limit-session", "1000000", "--rate-limit-heavy", "1000000"}

// endsWithTheServer skips a test of limits and sessions that end with a server: in a database they outlive it.
func endsWithTheServer(t *testing.T) {
	if os.Getenv("POLYMNIA_TEST_STORE") == "postgres" {
		t.Skip("limits and sessions outlive a server whose store is a database")
	}
}

func startServer(t testing.TB, options ...string) *server {
	t.Helper()
	s := &server{t: t, folder: t.TempDir(), options: options, port: "0"}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) start() {
	s.t.Helper()
	command := append(polymnia(s.t), "serve", "--port", s.port, "--store", filepath.Join(s.folder, "store.db"),
		"--keys", s.keys(), "--embedder", "none", "--log-level", "error")
	command = append(command, s.options...)
	s.process = exec.Command(command[0], command[1:]...)
	s.process.Env = environment(s.folder)
	said, err := s.process.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	var log strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		log.WriteString(lines.Text() + "\n")
		for _, word := range strings.Fields(lines.Text()) {
			if at, err := url.Parse(word); err == nil && at.Scheme == "http" {
				s.port = at.Port()
				go func() {
					for lines.Scan() {
					}
				}()
				return
			}
		}
	}
	s.t.Fatalf("the server did not start:\n%s", &log)
}

func (s *server) keys() string { return filepath.Join(s.folder, "keys.json") }

// key makes a key; from the first on the server asks for one.
func (s *server) key(options ...string) string {
	s.t.Helper()
	command := append(polymnia(s.t), "keys", "add", "tests", "--keys", s.keys())
	made := exec.Command(command[0], append(command[1:], options...)...)
	made.Env = environment(s.folder)
	text, err := made.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func (s *server) kill() {
	if s.process != nil {
		s.process.Process.Kill()
		s.process.Wait()
		s.process = nil
	}
}

func (s *server) ws() string   { return "ws://127.0.0.1:" + s.port + "/ws" }
func (s *server) http() string { return "http://127.0.0.1:" + s.port + "/mcp" }

// shared is the server that most tests share: that of POLYMNIA_URL, or one of our own.
var shared struct {
	once sync.Once
	host string
	own  *server
}

func host(t testing.TB) string {
	t.Helper()
	if given := os.Getenv("POLYMNIA_URL"); given != "" {
		at, err := url.Parse(given)
		if err != nil {
			t.Fatalf("POLYMNIA_URL: %v", err)
		}
		return at.Host
	}
	command := polymnia(t)
	shared.once.Do(func() {
		folder, err := os.MkdirTemp("", "polymnia-go-")
		if err != nil {
			t.Fatal(err)
		}
		shared.own = &server{t: t, folder: folder, options: plenty, port: "0"}
		shared.own.start()
		shared.host = "127.0.0.1:" + shared.own.port
		_ = command
	})
	return shared.host
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.own != nil {
		shared.own.kill()
		os.RemoveAll(shared.own.folder)
	}
	os.Exit(code)
}

// overEach runs a test over each transport, against the shared server where there is a network, with a client and the
// name of a project that nobody else uses.
func overEach(t *testing.T, test func(t *testing.T, client *mcpmemory.Client, project string)) {
	for _, transport := range []string{"ws", "http", "stdio"} {
		t.Run(transport, func(t *testing.T) {
			client := newClient(t, transport)
			test(t, client, project(t))
		})
	}
}

func newClient(t *testing.T, transport string, options ...mcpmemory.Option) *mcpmemory.Client {
	t.Helper()
	options = append([]mcpmemory.Option{
		mcpmemory.WithAPIKey(os.Getenv("POLYMNIA_KEY")), mcpmemory.WithTimeout(2 * time.Minute),
	}, options...)
	var client *mcpmemory.Client
	switch transport {
	case "ws":
		client = mcpmemory.NewClient("ws://"+host(t)+"/ws", options...)
	case "http":
		client = mcpmemory.NewClient("http://"+host(t)+"/mcp", options...)
	case "stdio":
		folder := t.TempDir()
		command := append(polymnia(t), "stdio", "--store", filepath.Join(folder, "store.db"), "--embedder", "none")
		client = mcpmemory.NewClient("stdio", append(options,
			mcpmemory.WithCommand(command[0], command[1:]...),
			mcpmemory.WithEnvironment("XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder))...)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func project(t *testing.T) string {
	name := strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())
	return fmt.Sprintf("%s-%d", strings.ToLower(name), time.Now().UnixNano())
}

func background(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(stop)
	return ctx
}
