package mcpmemory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mcpmemory "github.com/polymnia/polymnia-go"
)

// restarting stands in for the minute that a server asks to wait: it starts the server again, which then counts from 0.
func restarting(server *server, pauses *[]time.Duration) mcpmemory.Option {
	return mcpmemory.WithSleep(func(_ context.Context, pause time.Duration) error {
		*pauses = append(*pauses, pause)
		server.kill()
		server.start()
		return nil
	})
}

func TestLoopOverTheLimit(t *testing.T) {
	endsWithTheServer(t)
	server := startServer(t) // 100 calls a minute of one session
	for _, endpoint := range []string{server.ws(), server.http()} {
		var log bytes.Buffer
		before := slog.Default()
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		defer slog.SetDefault(before)
		var pauses []time.Duration
		client := mcpmemory.NewClient(endpoint, restarting(server, &pauses))
		defer client.Close()
		for i := range 150 {
			if _, err := client.SearchNodes(context.Background(), &mcpmemory.SearchNodesRequest{Query: "x"}); err != nil {
				t.Fatalf("%s: call %d: %v", endpoint, i, err)
			}
		}
		if len(pauses) != 1 || pauses[0] <= 30*time.Second {
			t.Errorf("%s: it waited %v", endpoint, pauses)
		}
		if !strings.Contains(log.String(), "asks to wait") || !strings.Contains(log.String(), "100 calls a minute") {
			t.Errorf("%s: nothing in the log says why it took so long: %s", endpoint, &log)
		}
	}
}

func TestLimitOfConnections(t *testing.T) {
	endsWithTheServer(t)
	server := startServer(t, "--rate-limit-session", "1") // over HTTP also of the sessions that one caller begins
	first := mcpmemory.NewClient(server.http())
	defer first.Close()
	if _, err := first.Connect(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	hasty := mcpmemory.NewClient(server.http(), mcpmemory.WithSleep(func(ctx context.Context, _ time.Duration) error {
		<-ctx.Done()
		return ctx.Err()
	}))
	defer hasty.Close()
	_, err := hasty.Connect(ctx)
	var limited *mcpmemory.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter <= 20*time.Second || ctx.Err() != nil {
		t.Errorf("a deadline before the end of the pause: %v", err)
	}
	var pauses []time.Duration
	patient := mcpmemory.NewClient(server.http(), restarting(server, &pauses))
	defer patient.Close()
	if _, err := patient.Connect(context.Background()); err != nil || len(pauses) != 1 {
		t.Errorf("a connection too many, after pauses of %v: %v", pauses, err)
	}
}

// TestPausesDoNotCount has pauses that are longer than the timeout of the client.
func TestPausesDoNotCount(t *testing.T) {
	var calls atomic.Int32
	client := mcpmemory.NewClient(fake(t, func(w http.ResponseWriter, id json.RawMessage, body []byte) {
		if calls.Add(1) <= 2 {
			w.Header().Set("Retry-After", "0.6")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
	}), mcpmemory.WithTimeout(500*time.Millisecond))
	defer client.Close()
	if err := client.Ping(context.Background()); err != nil {
		t.Error(err)
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestTimeoutGoesOnAfterAPause(t *testing.T) {
	var calls atomic.Int32
	over := make(chan struct{})
	defer close(over)
	endpoint := fake(t, func(w http.ResponseWriter, id json.RawMessage, body []byte) {
		if calls.Add(1) == 1 {
			w.Header().Set("Retry-After", "0.2")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		<-over
	})
	client := mcpmemory.NewClient(endpoint, mcpmemory.WithTimeout(100*time.Millisecond))
	defer client.Close()
	if err := client.Ping(context.Background()); !errors.Is(err, mcpmemory.ErrTimeout) || calls.Load() != 2 {
		t.Errorf("a server that is silent after the pause: %v", err)
	}
}

func TestCloseEndsAPause(t *testing.T) {
	server := startServer(t, "--rate-limit-session", "1")
	paused := make(chan struct{})
	client := mcpmemory.NewClient(server.ws(), mcpmemory.WithSleep(func(ctx context.Context, _ time.Duration) error {
		close(paused)
		<-ctx.Done()
		return ctx.Err()
	}))
	go func() {
		<-paused
		client.Close()
	}()
	for range 2 {
		if _, err := client.SearchNodes(context.Background(), &mcpmemory.SearchNodesRequest{Query: "x"}); err != nil {
			if !errors.Is(err, mcpmemory.ErrClosed) {
				t.Errorf("a call that waits when the client is closed: %v", err)
			}
			return
		}
	}
	t.Error("the second call was not refused")
}
