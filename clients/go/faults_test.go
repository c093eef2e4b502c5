package mcpmemory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mcpmemory "github.com/polymnia/polymnia-go"
)

// fake is a server over HTTP that answers every call of a tool as the test says.
func fake(t *testing.T, answer func(w http.ResponseWriter, id json.RawMessage, body []byte)) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		json.Unmarshal(body, &asked)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case asked.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, asked.ID)
		case asked.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			answer(w, asked.ID, body)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestEveryErrorType(t *testing.T) {
	is := func(target any) func(error) bool {
		return func(err error) bool { return errors.As(err, target) }
	}
	cases := []struct {
		code     int
		sentinel error
		typed    func(error) bool
	}{
		{400, mcpmemory.ErrBadRequest, is(new(*mcpmemory.BadRequestError))},
		{401, mcpmemory.ErrUnauthorized, is(new(*mcpmemory.UnauthorizedError))},
		{403, mcpmemory.ErrForbidden, is(new(*mcpmemory.ForbiddenError))},
		{404, mcpmemory.ErrNotFound, is(new(*mcpmemory.NotFoundError))},
		{409, mcpmemory.ErrConflict, is(new(*mcpmemory.ConflictError))},
		{422, mcpmemory.ErrValidation, is(new(*mcpmemory.ValidationError))},
		{500, mcpmemory.ErrInternal, is(new(*mcpmemory.InternalError))},
		{502, mcpmemory.ErrServiceUnavailable, is(new(*mcpmemory.ServiceUnavailableError))},
		{503, mcpmemory.ErrRateLimited, is(new(*mcpmemory.RateLimitedError))},
		{504, mcpmemory.ErrTimeout, is(new(*mcpmemory.TimeoutError))},
		{-32800, mcpmemory.ErrCancelled, is(new(*mcpmemory.CancelledError))},
		{-32602, nil, func(error) bool { return true }},
		{418, nil, func(error) bool { return true }},
	}
	for _, one := range cases {
		t.Run(fmt.Sprint(one.code), func(t *testing.T) {
			client := mcpmemory.NewClient(fake(t, func(w http.ResponseWriter, id json.RawMessage, _ []byte) {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"No","data":{"error_type":"kind",
					"details":{"field":"x"},"suggestions":["Do"],"documentation_url":"u","retry_after":3600}}}`, id, one.code)
			}))
			defer client.Close()
			_, err := client.ReadGraph(background(t), nil)
			if one.sentinel != nil && !errors.Is(err, one.sentinel) {
				t.Errorf("%v is not %v", err, one.sentinel)
			}
			for _, other := range cases {
				if other.sentinel != nil && other.sentinel != one.sentinel && errors.Is(err, other.sentinel) {
					t.Errorf("%v is %v too", err, other.sentinel)
				}
			}
			var base *mcpmemory.Error
			if !one.typed(err) || !errors.As(err, &base) {
				t.Fatalf("%T is not the type of %d", err, one.code)
			}
			if base.Code != one.code || base.Message != "No" || base.Type != "kind" || base.Details["field"] != "x" ||
				base.Suggestions[0] != "Do" || base.DocumentationURL != "u" || base.RetryAfter != time.Hour ||
				!strings.Contains(string(base.Data), "kind") {
				t.Errorf("what the server said is not all there: %+v", base)
			}
		})
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		ctx := background(t)
		if _, err := client.MemoryStore(ctx, mcpmemory.Arguments{"operation": "forget_everything", "project_id": project}); !errors.Is(err, mcpmemory.ErrBadRequest) {
			t.Errorf("an unknown operation: %v", err)
		}
		_, err := client.GetContent(ctx, &mcpmemory.GetContentRequest{ProjectID: project, ContentID: "content_of_nobody"})
		var missing *mcpmemory.NotFoundError
		if !errors.As(err, &missing) || missing.Details["resource_id"] != "content_of_nobody" {
			t.Errorf("a content that is not there: %v", err)
		}
		_, err = client.StoreContent(ctx, &mcpmemory.StoreContentRequest{Content: "x"})
		var invalid *mcpmemory.ValidationError
		if !errors.As(err, &invalid) || invalid.Details["field"] != "project_id" {
			t.Errorf("a parameter that is missing: %v", err)
		}
		_, err = client.AddObservations(ctx, &mcpmemory.AddObservationsRequest{Observations: []mcpmemory.Observation{
			{EntityName: "nobody of " + project, Contents: []string{"x"}},
		}})
		var failed *mcpmemory.ToolError
		if !errors.As(err, &failed) || !errors.Is(err, mcpmemory.ErrTool) || !strings.Contains(err.Error(), "nobody of") || failed.Result == nil {
			t.Errorf("a tool that says that it failed: %v", err)
		}
		_, err = client.CallTool(ctx, "no_such_tool", nil)
		var base *mcpmemory.Error
		if !errors.As(err, &base) || base.Code != -32602 {
			t.Errorf("a tool that is not there: %v", err)
		}
	})
}

func TestKeys(t *testing.T) {
	server := startServer(t)
	all := server.key()
	reader := server.key("--access", "read")
	for _, endpoint := range []string{server.ws(), server.http()} {
		store := func(key string) error {
			client := mcpmemory.NewClient(endpoint, mcpmemory.WithAPIKey(key))
			defer client.Close()
			_, err := client.StoreContent(background(t), &mcpmemory.StoreContentRequest{ProjectID: "keys", Content: "x " + endpoint})
			return err
		}
		if err := store(all); err != nil {
			t.Errorf("%s: %v", endpoint, err)
		}
		var wrong *mcpmemory.UnauthorizedError
		if err := store("pk_wrong"); !errors.As(err, &wrong) || len(wrong.Suggestions) == 0 {
			t.Errorf("%s: a wrong key: %v", endpoint, err)
		}
		if err := store(""); !errors.Is(err, mcpmemory.ErrUnauthorized) {
			t.Errorf("%s: no key: %v", endpoint, err)
		}
		if err := store(reader); !errors.Is(err, mcpmemory.ErrForbidden) {
			t.Errorf("%s: a key that may only read: %v", endpoint, err)
		}
	}
}

func TestRateLimitThatLastsTooLong(t *testing.T) {
	server := startServer(t, "--rate-limit-session", "3")
	for _, endpoint := range []string{server.ws(), server.http()} {
		client := mcpmemory.NewClient(endpoint)
		defer client.Close()
		for i := range 4 {
			begun := time.Now()
			ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
			defer stop()
			_, err := client.SearchNodes(ctx, &mcpmemory.SearchNodesRequest{Query: "x"})
			if i < 3 {
				if err != nil {
					t.Fatalf("%s: call %d: %v", endpoint, i, err)
				}
				continue
			}
			var limited *mcpmemory.RateLimitedError
			if !errors.As(err, &limited) || limited.RetryAfter < 31*time.Second || limited.RetryAfter > time.Minute {
				t.Errorf("%s: a call too many: %v", endpoint, err)
			}
			if waited := time.Since(begun); waited > 20*time.Second {
				t.Errorf("%s: it waited %s for nothing", endpoint, waited)
			}
		}
	}
}

func TestRateLimitIsWaitedFor(t *testing.T) {
	for _, how := range []string{"data", "header"} {
		var calls atomic.Int32
		var ids sync.Map
		client := mcpmemory.NewClient(fake(t, func(w http.ResponseWriter, id json.RawMessage, body []byte) {
			var asked struct {
				Params struct {
					Arguments struct {
						ID string `json:"request_id"`
					} `json:"arguments"`
				} `json:"params"`
			}
			json.Unmarshal(body, &asked)
			ids.Store(asked.Params.Arguments.ID, true)
			switch {
			case calls.Add(1) > 1:
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"success":true}}}`, id)
			case how == "data":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":503,"message":"No","data":{"retry_after":1}}}`, id)
			default:
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}))
		defer client.Close()
		begun := time.Now()
		answer, err := client.StoreContent(background(t), &mcpmemory.StoreContentRequest{ProjectID: "p", Content: "c"})
		if err != nil || !answer.Success {
			t.Fatal(how, err)
		}
		if waited := time.Since(begun); waited < time.Second {
			t.Errorf("%s: it waited only %s", how, waited)
		}
		count := 0
		ids.Range(func(id, _ any) bool { count++; return id != "" })
		if count != 1 {
			t.Errorf("%s: the retry had another request_id", how)
		}
	}
}

// written answers how often each text of a project is stored.
func written(t *testing.T, client *mcpmemory.Client, project string) map[string]int {
	t.Helper()
	exported, err := client.ExportProjectData(background(t), &mcpmemory.ExportProjectDataRequest{ProjectID: project, Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case string:
			if strings.HasPrefix(value, "{") {
				var inner any
				if json.Unmarshal([]byte(value), &inner) == nil {
					walk(inner)
				}
			}
		case []any:
			for _, one := range value {
				walk(one)
			}
		case map[string]any:
			if text, ok := value["content"].(string); ok {
				found[text]++
			}
			for _, one := range value {
				walk(one)
			}
		}
	}
	walk(exported.Value())
	return found
}

func TestKilledServer(t *testing.T) {
	for _, one := range []struct {
		transport string
		writes    int
	}{{"ws", 1000}, {"http", 200}} {
		t.Run(one.transport, func(t *testing.T) {
			server := startServer(t, plenty...)
			endpoint := server.ws()
			if one.transport == "http" {
				endpoint = server.http()
			}
			client := mcpmemory.NewClient(endpoint, mcpmemory.WithTimeout(5*time.Minute))
			defer client.Close()
			var next, done atomic.Int64
			var writers sync.WaitGroup
			for range 16 {
				writers.Add(1)
				go func() {
					defer writers.Done()
					for {
						i := next.Add(1)
						if i > int64(one.writes) {
							return
						}
						var err error
						if i%4 == 0 { // refused if it were done twice, as the name would be taken
							_, err = client.CreateEntities(context.Background(), &mcpmemory.CreateEntitiesRequest{
								Entities: []mcpmemory.Entity{
									{Name: fmt.Sprintf("Entity %d", i), EntityType: "thing", Observations: []string{"x"}},
								},
							})
						} else {
							_, err = client.StoreContent(context.Background(), &mcpmemory.StoreContentRequest{
								ProjectID: "killed", Content: fmt.Sprintf("Write number %d", i),
							})
						}
						if err != nil {
							t.Errorf("write %d: %v", i, err)
						}
						done.Add(1)
					}
				}()
			}
			for kill := range 3 {
				for done.Load() < int64((kill+1)*one.writes/4) && !t.Failed() {
					time.Sleep(time.Millisecond)
				}
				server.kill()
				server.start()
			}
			writers.Wait()
			found := written(t, client, "killed")
			graph, err := client.ReadGraph(background(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, entity := range graph.Entities {
				found[entity.Name] += len(entity.Observations)
			}
			lost, doubled := 0, 0
			for i := 1; i <= one.writes; i++ {
				if i%4 == 0 {
					found[fmt.Sprintf("Write number %d", i)] = found[fmt.Sprintf("Entity %d", i)]
				}
				switch count := found[fmt.Sprintf("Write number %d", i)]; {
				case count == 0:
					lost++
				case count > 1:
					doubled++
				}
			}
			if lost > 0 || doubled > 0 {
				t.Errorf("of %d writes %d are lost and %d doubled", one.writes, lost, doubled)
			}
		})
	}
}

func TestSubscriptionSurvivesTheServer(t *testing.T) {
	endsWithTheServer(t)
	server := startServer(t, plenty...)
	for _, endpoint := range []string{server.ws(), server.http()} {
		ctx := background(t)
		client := mcpmemory.NewClient(endpoint)
		defer client.Close()
		name := "Watched over " + endpoint
		if _, err := client.CreateEntities(ctx, &mcpmemory.CreateEntitiesRequest{Entities: []mcpmemory.Entity{
			{Name: name, EntityType: "thing", Observations: []string{"one"}},
		}}); err != nil {
			t.Fatal(err)
		}
		updates := make(chan mcpmemory.Update, 10)
		if _, err := client.SubscribeMemory(ctx, name, func(u mcpmemory.Update) { updates <- u }); err != nil {
			t.Fatal(err)
		}
		server.kill()
		server.start()
		expect := func(reconnected bool) {
			t.Helper()
			select {
			case update := <-updates:
				if update.Reconnected != reconnected || update.Err != nil || update.URI != mcpmemory.MemoryURI(name) {
					t.Errorf("%s: update %+v", endpoint, update)
				}
			case <-ctx.Done():
				t.Fatalf("%s: no update came (reconnected: %v)", endpoint, reconnected)
			}
		}
		expect(true)
		other := mcpmemory.NewClient(endpoint)
		if _, err := other.AddObservations(ctx, &mcpmemory.AddObservationsRequest{Observations: []mcpmemory.Observation{
			{EntityName: name, Contents: []string{"two"}},
		}}); err != nil {
			t.Fatal(err)
		}
		other.Close()
		expect(false)
	}
}

// cut is a body that ends in the middle after its first event.
type cut struct {
	io.ReadCloser
	seen string
}

func (c *cut) Read(into []byte) (int, error) {
	if strings.Contains(c.seen, "notifications/progress") {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(into)
	c.seen += string(into[:n])
	return n, err
}

func TestResumedStream(t *testing.T) {
	server := startServer(t, plenty...)
	target, _ := url.Parse("http://127.0.0.1:" + server.port)
	var cuts, resumed, posts atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(target)
	direct := proxy.Director
	proxy.Director = func(r *http.Request) {
		direct(r)
		r.Host = target.Host
		if r.Header.Get("Last-Event-Id") != "" {
			resumed.Add(1)
		}
	}
	proxy.FlushInterval = -1
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			posts.Add(1)
			if cuts.Add(1) == 1 {
				r.Body = &cut{ReadCloser: r.Body}
			}
		}
		return nil
	}
	front := httptest.NewServer(proxy)
	defer front.Close()
	client := mcpmemory.NewClient(front.URL + "/mcp")
	defer client.Close()
	many := &mcpmemory.CreateEntitiesRequest{}
	for i := range 8000 {
		many.Entities = append(many.Entities, mcpmemory.Entity{
			Name: fmt.Sprintf("Resumed %d", i), EntityType: "thing", Observations: []string{strings.Repeat("word ", 20)},
		})
	}
	made, err := client.CreateEntities(background(t), many, mcpmemory.WithProgress(func(mcpmemory.Progress) {}))
	if err != nil {
		t.Fatal(err)
	}
	if len(made.IDs) != len(many.Entities) {
		t.Errorf("%d were made", len(made.IDs))
	}
	if cuts.Load() != 1 || resumed.Load() == 0 || posts.Load() != 1 {
		t.Errorf("streams %d, resumed %d: the call was sent again, or the stream was never cut", posts.Load(), resumed.Load())
	}
}

// loser passes connections on to a server until it is told to lose an answer: then it closes the connection in place of
// passing on what the server sends.
type loser struct {
	net.Listener
	lose atomic.Bool
	lost atomic.Int32
}

func newLoser(t *testing.T, server string) *loser {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &loser{Listener: listener}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			front, err := listener.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", server)
			if err != nil {
				front.Close()
				continue
			}
			go func() {
				io.Copy(back, front)
				back.Close()
			}()
			go func() {
				defer front.Close()
				buffer := make([]byte, 64*1024)
				for {
					n, err := back.Read(buffer)
					if n > 0 && l.lose.CompareAndSwap(true, false) {
						l.lost.Add(1)
						back.Close()
						return
					}
					if _, failed := front.Write(buffer[:n]); err != nil || failed != nil {
						return
					}
				}
			}()
		}
	}()
	return l
}

func TestLostAnswer(t *testing.T) {
	server := startServer(t, plenty...)
	for _, transport := range []string{"ws", "http"} {
		t.Run(transport, func(t *testing.T) {
			ctx := background(t)
			proxy := newLoser(t, "127.0.0.1:"+server.port)
			endpoint := "ws://" + proxy.Addr().String() + "/ws"
			if transport == "http" {
				endpoint = "http://" + proxy.Addr().String() + "/mcp"
			}
			client := mcpmemory.NewClient(endpoint)
			defer client.Close()
			if err := client.Ping(ctx); err != nil {
				t.Fatal(err)
			}
			project := project(t)

			proxy.lose.Store(true)
			stored, err := client.StoreContent(ctx, &mcpmemory.StoreContentRequest{ProjectID: project, Content: "Only once"})
			if err != nil {
				t.Fatal(err)
			}
			if stored.Field("repeated") != true || stored.Field("content_id") == nil {
				t.Errorf("the server was not told that it is a retry: %s", stored)
			}
			if found := written(t, client, project); found["Only once"] != 1 {
				t.Errorf("it is stored %d times", found["Only once"])
			}

			proxy.lose.Store(true)
			made, err := client.CreateEntities(ctx, &mcpmemory.CreateEntitiesRequest{Entities: []mcpmemory.Entity{
				{Name: "Only once over " + transport, EntityType: "thing", Observations: []string{"x"}},
			}})
			if err != nil || len(made.IDs) != 1 {
				t.Errorf("a write of the graph: %v, %v", made, err)
			}
			if proxy.lost.Load() != 2 {
				t.Errorf("%d answers were lost", proxy.lost.Load())
			}
		})
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	host(t) // what belongs to the server is there before
	before := runtime.NumGoroutine()
	for _, transport := range []string{"ws", "stdio"} {
		client := newClient(t, transport)
		ctx := background(t)
		if _, err := client.Subscribe(ctx, "memory://knowledge-graph", func(mcpmemory.Update) {}); err != nil {
			t.Fatal(err)
		}
		client.Close()
	}
	deadline := time.Now().Add(20 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
}
