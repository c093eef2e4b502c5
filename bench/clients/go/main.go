// Command go measures a trivial call (open_nodes of one memory) by this client and by the official Go SDK against the
// same server, in turn: latency, and the CPU time of the client's process.
//
//	go run . [-calls 200] [-rounds 15]
//
// It starts a server of its own with the command in POLYMNIA, or uses the one at POLYMNIA_URL. The official SDK has no
// WebSocket transport for clients: it is measured over Streamable HTTP, and this client over both.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	mcpmemory "github.com/polymnia/polymnia-go"
)

const name = "Ann"

// side is one client over one transport.
type side struct {
	Client    string  `json:"client"`
	Transport string  `json:"transport"`
	P50       float64 `json:"p50_us"` // medians of the rounds
	CPU       float64 `json:"cpu_us"`
	Rounds    []round `json:"rounds"`

	call func(context.Context) error
}

// round is what a call took in one block.
type round struct {
	P50 float64 `json:"p50_us"`
	CPU float64 `json:"cpu_us"`
}

func main() {
	calls := flag.Int("calls", 200, "calls of a block")
	rounds := flag.Int("rounds", 15, "blocks of each side")
	flag.Parse()
	if err := run(*calls, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(calls, rounds int) error {
	host, stop, err := server()
	if err != nil {
		return err
	}
	defer stop()
	ctx := context.Background()
	sides, finish, err := connect(ctx, host)
	if err != nil {
		return err
	}
	defer finish()
	for _, one := range sides {
		for range calls {
			if err := one.call(ctx); err != nil {
				return fmt.Errorf("%s: %w", one.Client, err)
			}
		}
	}
	for turn := range rounds {
		order := slices.Clone(sides)
		if turn%2 == 1 {
			slices.Reverse(order)
		}
		for _, one := range order {
			if err := one.block(ctx, calls); err != nil {
				return fmt.Errorf("%s: %w", one.Client, err)
			}
		}
	}
	for _, one := range sides {
		one.P50 = median(one.Rounds, func(r round) float64 { return r.P50 })
		one.CPU = median(one.Rounds, func(r round) float64 { return r.CPU })
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(map[string]any{
		"language": "go", "runtime": runtime.Version(), "sdk": sdk(), "call": "open_nodes", "calls": calls, "sides": sides,
	})
}

// block makes calls one after another. What the collector does for the garbage of the block is counted too.
func (s *side) block(ctx context.Context, calls int) error {
	runtime.GC()
	took := make([]time.Duration, calls)
	before := used()
	for i := range took {
		begun := time.Now()
		if err := s.call(ctx); err != nil {
			return err
		}
		took[i] = time.Since(begun)
	}
	runtime.GC()
	spent := used() - before
	slices.Sort(took)
	s.Rounds = append(s.Rounds, round{micro(took[calls/2]), micro(spent / time.Duration(calls))})
	return nil
}

func median(rounds []round, of func(round) float64) float64 {
	found := make([]float64, len(rounds))
	for i, one := range rounds {
		found[i] = of(one)
	}
	slices.Sort(found)
	return found[len(found)/2]
}

func connect(ctx context.Context, host string) ([]*side, func(), error) {
	socket := mcpmemory.NewClient("ws://" + host + "/ws")
	web := mcpmemory.NewClient("http://" + host + "/mcp")
	ours := func(client *mcpmemory.Client) func(context.Context) error {
		request := &mcpmemory.OpenNodesRequest{Names: []string{name}}
		return func(ctx context.Context) error {
			answer, err := client.OpenNodes(ctx, request)
			if err == nil && len(answer.Nodes) != 1 {
				err = fmt.Errorf("answered %s", answer)
			}
			return err
		}
	}
	_, err := socket.CreateEntities(ctx, &mcpmemory.CreateEntitiesRequest{Entities: []mcpmemory.Entity{
		{Name: name, EntityType: "person", Observations: []string{"Likes tea"}},
	}})
	if err != nil {
		return nil, nil, err
	}
	official := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := official.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://" + host + "/mcp"}, nil)
	if err != nil {
		return nil, nil, err
	}
	sides := []*side{
		{Client: "polymnia-go", Transport: "WebSocket", call: ours(socket)},
		{Client: "polymnia-go", Transport: "HTTP", call: ours(web)},
		{Client: "official SDK", Transport: "HTTP", call: func(ctx context.Context) error {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "open_nodes", Arguments: map[string]any{"names": []string{name}}})
			if err == nil && (result.IsError || result.StructuredContent == nil) {
				err = fmt.Errorf("answered %v", result)
			}
			return err
		}},
	}
	return sides, func() { socket.Close(); web.Close(); session.Close() }, nil
}

// server answers the host of a server, and how to end it.
func server() (string, func(), error) {
	if given := os.Getenv("POLYMNIA_URL"); given != "" {
		at, err := url.Parse(given)
		if err != nil {
			return "", nil, err
		}
		return at.Host, func() {}, nil
	}
	command := strings.Fields(os.Getenv("POLYMNIA"))
	if len(command) == 0 {
		python, err := filepath.Abs("../../../.venv/bin/python")
		if err != nil {
			return "", nil, err
		}
		command = []string{python, "-m", "polymnia"}
	}
	folder, err := os.MkdirTemp("", "polymnia-bench-")
	if err != nil {
		return "", nil, err
	}
	command = append(command, "serve", "--port", "0", "--store", filepath.Join(folder, "store.db"),
		"--keys", filepath.Join(folder, "keys.json"), "--embedder", "none", "--log-level", "error",
		"--rate-limit", "100000000", "--rate-limit-session", "100000000")
	process := exec.Command(command[0], command[1:]...)
	process.Env = append(os.Environ(), "XDG_CONFIG_HOME="+folder)
	said, err := process.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := process.Start(); err != nil {
		return "", nil, err
	}
	stop := func() {
		process.Process.Kill()
		process.Wait()
		os.RemoveAll(folder)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		for _, word := range strings.Fields(lines.Text()) {
			if at, err := url.Parse(word); err == nil && at.Scheme == "http" {
				return at.Host, stop, nil
			}
		}
	}
	stop()
	return "", nil, fmt.Errorf("the server did not start")
}

func sdk() string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, one := range built.Deps {
			if strings.HasSuffix(one.Path, "/go-sdk") {
				return one.Version
			}
		}
	}
	return ""
}

func used() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()/10) / 100 }
