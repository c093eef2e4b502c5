package mcpmemory_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	mcpmemory "github.com/polymnia/polymnia-go"
)

func TestSeedExample(t *testing.T) {
	client := mcpmemory.NewClient("ws://" + host(t) + "/ws")
	defer client.Close()
	name := project(t)

	// Store content
	result, err := client.MemoryStore(context.Background(), &mcpmemory.StoreContentRequest{
		Operation: "store_content",
		ProjectID: name,
		Content:   "Important information to remember",
		Tags:      []string{"important", "memory"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := result.Field("content_id").(string); id == "" {
		t.Fatalf("no content_id in %s", result)
	}

	// Search content
	searchResults, err := client.MemoryRetrieve(context.Background(), &mcpmemory.SearchContentRequest{
		Operation: "search_content",
		ProjectID: name,
		Query:     "important information",
		Options:   &mcpmemory.SearchOptions{Limit: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Results []struct {
			Content struct {
				Content string `json:"content"`
			} `json:"content"`
		} `json:"results"`
	}
	if err := searchResults.Decode(&found); err != nil || len(found.Results) != 1 {
		t.Fatalf("%v: %s", err, searchResults)
	}
	if !strings.HasPrefix(string(searchResults.Raw), "{") || searchResults.Text == "" {
		t.Errorf("the raw result is not reachable: %q, %q", searchResults.Raw, searchResults.Text)
	}
}

func TestCalls(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		ctx := background(t)
		if err := client.Ping(ctx); err != nil {
			t.Fatal(err)
		}
		stored, err := client.StoreContent(ctx, &mcpmemory.StoreContentRequest{
			ProjectID: project,
			Content:   "The gateway answers on port 8080 <b>&</b> \u2028 제이드 🦉",
			Metadata:  map[string]any{"weight": 1.5},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !stored.Success || stored.Timestamp == "" {
			t.Errorf("the answer is not read: %+v", stored)
		}
		id := stored.Field("content_id").(string)
		got, err := client.MemoryRetrieve(ctx, mcpmemory.Arguments{
			"operation": "get_content", "project_id": project, "content_id": id,
		})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(got.Value()); !strings.Contains(text, "<b>&</b> \u2028 제이드 🦉") {
			t.Errorf("the text came back as %s", text)
		}
		updated, err := client.UpdateContent(ctx, &mcpmemory.UpdateContentRequest{
			ProjectID: project, ContentID: id,
			Updates: &mcpmemory.Updates{Tags: []string{"network"}, Summary: mcpmemory.Ptr("")},
		})
		if err != nil || !updated.Success {
			t.Fatal(updated, err)
		}

		name := "Ann of " + project
		if _, err := client.CreateEntities(ctx, &mcpmemory.CreateEntitiesRequest{Entities: []mcpmemory.Entity{
			{Name: name, EntityType: "person", Observations: []string{"Likes tea"}},
		}}); err != nil {
			t.Fatal(err)
		}
		opened, err := client.OpenNodes(ctx, &mcpmemory.OpenNodesRequest{Names: []string{name, "nobody at all"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(opened.Nodes) != 1 || opened.Nodes[0].Observations[0] != "Likes tea" || len(opened.NotFound) != 1 {
			t.Errorf("opened %s", opened)
		}
		text, err := client.ReadResource(ctx, mcpmemory.MemoryURI(name))
		if err != nil || !strings.Contains(text, "Likes tea") {
			t.Errorf("read %q, %v", text, err)
		}
		tools, err := client.ListTools(ctx)
		if err != nil || len(tools) < 20 || tools[0].Name == "" || len(tools[0].InputSchema) == 0 {
			t.Errorf("%d tools, %v", len(tools), err)
		}
		if _, err := client.ScopeList(ctx, nil); err != nil {
			t.Errorf("a request that may be nil: %v", err)
		}
	})
}

func TestWritesOnce(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		ctx := background(t)
		var ids []any
		for range 2 {
			stored, err := client.StoreDecision(ctx, &mcpmemory.StoreDecisionRequest{
				ProjectID: project, Title: "Ports", Context: "Two services", Decision: "8080", Rationale: "It is free",
			}, mcpmemory.WithRequestID("decision of "+project))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, stored.Field("decision_id"))
		}
		if ids[0] == nil || ids[0] != ids[1] {
			t.Errorf("the same request was done twice: %v", ids)
		}
		for range 2 { // an operation without an argument for it
			made, err := client.CreateEntities(ctx, &mcpmemory.CreateEntitiesRequest{Entities: []mcpmemory.Entity{
				{Name: "Once in " + project, EntityType: "thing", Observations: []string{"x"}},
			}}, mcpmemory.WithRequestID("entity of "+project))
			if err != nil || len(made.IDs) != 1 {
				t.Errorf("a write that came again: %v, %v", made, err)
			}
		}
		_, err := client.MemoryStore(ctx, mcpmemory.Arguments{
			"operation": "store_content", "project_id": project, "content": "Something else",
		}, mcpmemory.WithRequestID("decision of "+project))
		var conflict *mcpmemory.ConflictError
		if !errors.As(err, &conflict) || conflict.Code != 409 {
			t.Errorf("an id that was used for something else: %v", err)
		}
	})
}

func TestProgressAndCancellation(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		ctx := background(t)
		many := &mcpmemory.CreateEntitiesRequest{}
		for i := range 8000 {
			many.Entities = append(many.Entities, mcpmemory.Entity{
				Name: fmt.Sprintf("%s %d", project, i), EntityType: "thing", Observations: []string{strings.Repeat("word ", 20)},
			})
		}
		withdrawn, withdraw := context.WithCancel(ctx)
		defer withdraw()
		heard := 0
		_, err := client.CreateEntities(withdrawn, many, mcpmemory.WithProgress(func(p mcpmemory.Progress) {
			heard++
			if p.Total != 8000 || p.Progress < 0 {
				t.Errorf("progress %+v", p)
			}
			withdraw()
		}))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("a call that was cancelled: %v", err)
		}
		if heard == 0 {
			t.Error("no progress was heard")
		}
		// The server goes on with the next call when it has stopped with this one.
		opened, err := client.OpenNodes(ctx, &mcpmemory.OpenNodesRequest{Names: []string{many.Entities[0].Name}})
		if err != nil {
			t.Fatal(err)
		}
		if len(opened.Nodes) != 0 {
			t.Error("the call was done though it was cancelled")
		}
	})
}

func TestTimeout(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		if err := client.Ping(background(t)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		<-ctx.Done()
		err := client.Ping(ctx)
		var timeout *mcpmemory.TimeoutError
		if !errors.As(err, &timeout) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, mcpmemory.ErrTimeout) {
			t.Errorf("a call whose time is over: %v", err)
		}
		ownData(t, err)
		if err := client.Ping(background(t)); err != nil {
			t.Errorf("the call after it: %v", err)
		}
	})
}

func TestSubscription(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		ctx := background(t)
		name := "Subscribed " + project
		if _, err := client.CreateEntities(ctx, &mcpmemory.CreateEntitiesRequest{Entities: []mcpmemory.Entity{
			{Name: name, EntityType: "thing", Observations: []string{"one"}},
		}}); err != nil {
			t.Fatal(err)
		}
		updates := make(chan mcpmemory.Update, 10)
		subscription, err := client.SubscribeMemory(ctx, name, func(u mcpmemory.Update) { updates <- u })
		if err != nil {
			t.Fatal(err)
		}
		add := func(text string) {
			t.Helper()
			if _, err := client.AddObservations(ctx, &mcpmemory.AddObservationsRequest{Observations: []mcpmemory.Observation{
				{EntityName: name, Contents: []string{text}},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		add("two")
		select {
		case update := <-updates:
			if update.URI != mcpmemory.MemoryURI(name) || update.Reconnected {
				t.Errorf("update %+v", update)
			}
		case <-ctx.Done():
			t.Fatal("no update came")
		}
		if err := subscription.Close(ctx); err != nil {
			t.Fatal(err)
		}
		add("three")
		if err := client.Ping(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case update := <-updates:
			t.Errorf("an update after the end: %+v", update)
		default:
		}
	})
}

func TestBadEndpoints(t *testing.T) {
	for endpoint, said := range map[string]string{
		"": "begins with", "garbage": "begins with", "localhost:9080": "begins with", "ftp://localhost": "begins with",
		"ws://": "no host", "ws:///ws": "no host", "http://:9080/mcp": "no host", "http://%zz": "invalid URL escape",
		"ws://localhost:99999/ws": "99999", "http://localhost:99999/mcp": "99999", "http://localhost:0/mcp": "1 to 65535",
		"ws://localhost:port/ws": "invalid port",
	} {
		begun := time.Now()
		err := mcpmemory.NewClient(endpoint).Ping(context.Background())
		if !errors.Is(err, mcpmemory.ErrConnection) || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v", endpoint, err)
		}
		atOnce(t, endpoint, begun)
		ownData(t, err)
	}
	missing := mcpmemory.NewClient("stdio", mcpmemory.WithCommand("/no/such/program"))
	if err := missing.Ping(context.Background()); !errors.Is(err, mcpmemory.ErrConnection) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
	command := polymnia(t)
	wrong := mcpmemory.NewClient("stdio", mcpmemory.WithCommand(command[0], append(command[1:], "stdio", "--no-such-option")...))
	if err := wrong.Ping(context.Background()); !errors.Is(err, mcpmemory.ErrConnection) || !strings.Contains(err.Error(), "--no-such-option") {
		t.Errorf("a server that ends at once: %v", err)
	}
	other := mcpmemory.NewClient("stdio:" + command[0] + " --version") // it answers, but not as a server does
	if err := other.Ping(context.Background()); !errors.Is(err, mcpmemory.ErrConnection) || !strings.Contains(err.Error(), "not JSON-RPC") {
		t.Errorf("a program that is no server: %v", err)
	}
}

func TestConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	for _, endpoint := range []string{"ws://" + address + "/ws", "http://" + address + "/mcp"} {
		client := mcpmemory.NewClient(endpoint, mcpmemory.WithTimeout(300*time.Millisecond))
		begun := time.Now()
		err := client.Ping(context.Background())
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, mcpmemory.ErrConnection) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", endpoint, err)
		}
		if time.Since(begun) < 300*time.Millisecond {
			t.Errorf("%s: it was not tried again", endpoint)
		}
		client.Close()
	}
}

func TestTooLarge(t *testing.T) {
	server := startServer(t, append([]string{"--max-message-bytes", "20000"}, plenty...)...)
	for _, endpoint := range []string{server.ws(), server.http()} {
		client := mcpmemory.NewClient(endpoint)
		defer client.Close()
		ctx := background(t)
		if err := client.Ping(ctx); err != nil {
			t.Fatal(err)
		}
		var others sync.WaitGroup
		for range 5 {
			others.Add(1)
			go func() {
				defer others.Done()
				if _, err := client.ScopeList(ctx, nil); err != nil {
					t.Errorf("%s: a call beside it: %v", endpoint, err)
				}
			}()
		}
		_, err := client.StoreContent(ctx, &mcpmemory.StoreContentRequest{ProjectID: "large", Content: strings.Repeat("x", 30_000)})
		var refused *mcpmemory.Error
		if !errors.As(err, &refused) || refused.Code != -32600 {
			t.Errorf("%s: a message that is too large: %v", endpoint, err)
		}
		others.Wait()
	}
}

func TestMuchTooLarge(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		ctx := background(t)
		_, err := client.StoreContent(ctx, &mcpmemory.StoreContentRequest{
			ProjectID: project, Content: strings.Repeat("word ", 4<<20),
		})
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a message of 20 MB: %v", err)
		}
		if err := client.Ping(ctx); err != nil {
			t.Errorf("the call after it: %v", err)
		}
	})
}

func TestProjectInTheAddress(t *testing.T) {
	for _, address := range []string{"ws://" + host(t) + "/ws", "http://" + host(t) + "/mcp"} {
		client := mcpmemory.NewClient(address + "?project=프로젝트 " + project(t))
		defer client.Close()
		ctx := background(t)
		if _, err := client.CreateEntities(ctx, &mcpmemory.CreateEntitiesRequest{Entities: []mcpmemory.Entity{
			{Name: "제이드", EntityType: "사람", Observations: []string{"서울"}},
		}}); err != nil {
			t.Fatal(err)
		}
		graph, err := client.ReadGraph(ctx, nil)
		if err != nil || len(graph.Entities) != 1 || graph.Entities[0].Name != "제이드" {
			t.Errorf("%s: %v, %v", address, graph, err)
		}
	}
}

func TestClosed(t *testing.T) {
	client := newClient(t, "ws")
	if err := client.Ping(background(t)); err != nil {
		t.Fatal(err)
	}
	client.Close()
	client.Close()
	_, failed := client.Subscribe(background(t), "memory://knowledge-graph", func(mcpmemory.Update) {})
	for _, err := range []error{client.Ping(background(t)), failed} {
		if !errors.Is(err, mcpmemory.ErrClosed) || !errors.Is(err, mcpmemory.ErrConnection) {
			t.Errorf("a call of a closed client: %v", err)
		}
		ownData(t, err)
	}
}
