package mcpmemory_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	mcpmemory "github.com/polymnia/polymnia-go"
)

// atOnce fails a test whose call had to wait for the timeout of the client.
func atOnce(t *testing.T, what string, begun time.Time) {
	t.Helper()
	if waited := time.Since(begun); waited > 20*time.Second {
		t.Errorf("%s: it waited %s for nothing", what, waited)
	}
}

// ownData checks what an error has that the client makes itself.
func ownData(t *testing.T, err error) {
	t.Helper()
	var base *mcpmemory.Error
	if !errors.As(err, &base) {
		t.Errorf("%T does not unwrap to *Error", err)
		return
	}
	var data struct {
		Type        string         `json:"error_type"`
		Details     map[string]any `json:"details"`
		Suggestions []string       `json:"suggestions"`
	}
	if json.Unmarshal(base.Data, &data) != nil || data.Type == "" || data.Details == nil || data.Suggestions == nil ||
		base.Suggestions == nil {
		t.Errorf("the data of %q is %s", err, base.Data)
	}
}

// overTLS passes everything on to a server, under the certificate of httptest.
func overTLS(t *testing.T, address string) *httptest.Server {
	target, _ := url.Parse("http://" + address)
	proxy := httputil.NewSingleHostReverseProxy(target)
	direct := proxy.Director
	proxy.Director = func(r *http.Request) {
		direct(r)
		r.Host = target.Host
	}
	proxy.FlushInterval = -1
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	front := httptest.NewUnstartedServer(proxy)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	return front
}

func TestPrivateCertificate(t *testing.T) {
	front := overTLS(t, host(t))
	address := front.Listener.Addr().String()
	pool := x509.NewCertPool()
	pool.AddCert(front.Certificate())
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	t.Cleanup(trusting.CloseIdleConnections)
	for _, endpoint := range []string{"wss://" + address + "/ws", "https://" + address + "/mcp"} {
		client := mcpmemory.NewClient(endpoint, mcpmemory.WithHTTPClient(trusting))
		stored, err := client.StoreContent(background(t), &mcpmemory.StoreContentRequest{ProjectID: project(t), Content: "Over TLS"})
		if err != nil || !stored.Success {
			t.Errorf("%s with the pool: %v", endpoint, err)
		}
		client.Close()

		distrusting := mcpmemory.NewClient(endpoint)
		begun := time.Now()
		err = distrusting.Ping(context.Background())
		var unknown x509.UnknownAuthorityError
		if !errors.Is(err, mcpmemory.ErrConnection) || !errors.As(err, &unknown) || !strings.Contains(err.Error(), "unknown authority") {
			t.Errorf("%s without the pool: %v", endpoint, err)
		}
		atOnce(t, endpoint, begun)
		ownData(t, err)
		distrusting.Close()
	}
	for _, endpoint := range []string{"ws://" + address + "/ws", "http://" + address + "/mcp"} {
		client := mcpmemory.NewClient(endpoint)
		begun := time.Now()
		if err := client.Ping(context.Background()); !errors.Is(err, mcpmemory.ErrConnection) {
			t.Errorf("%s of a server with TLS: %v", endpoint, err)
		}
		atOnce(t, endpoint, begun)
		client.Close()
	}
}

func TestNoEndpointAtTheAddress(t *testing.T) {
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>It works!</html>")
	}))
	defer pages.Close()
	page := strings.TrimPrefix(pages.URL, "http://")
	at := host(t)
	for endpoint, said := range map[string]string{
		"ws://" + at + "/":       "404",
		"ws://" + at + "/nope":   "404",
		"ws://" + at + "/mcp":    "404",
		"http://" + at + "/":     "405", // the explorer is there, for GET
		"http://" + at + "/nope": "404",
		"http://" + at + "/sse":  "405",
		"http://" + at + "/ws":   "426",
		"http://" + page:         "200 OK (text/html)",
		"ws://" + page:           "200 OK (text/html)",
	} {
		client := mcpmemory.NewClient(endpoint)
		begun := time.Now()
		err := client.Ping(context.Background())
		var failed *mcpmemory.ConnectionError
		if !errors.As(err, &failed) || errors.Is(err, mcpmemory.ErrNotFound) || failed.Endpoint == "" {
			t.Errorf("%s: %T: %v", endpoint, err, err)
			continue
		}
		for _, part := range []string{said, endpoint, "/ws", "/mcp"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in: %v", endpoint, part, err)
			}
		}
		if len(failed.Suggestions) != 1 || !strings.Contains(failed.Suggestions[0], "ws://") {
			t.Errorf("%s: suggestions %q", endpoint, failed.Suggestions)
		}
		atOnce(t, endpoint, begun)
		ownData(t, err)
		client.Close()
	}
}

func TestKeysThatNoHeaderCarries(t *testing.T) {
	server := startServer(t)
	key := server.key()
	for _, endpoint := range []string{server.ws(), server.http()} {
		padded := mcpmemory.NewClient(endpoint, mcpmemory.WithAPIKey(" \t"+key+"\r\n"))
		if err := padded.Ping(background(t)); err != nil {
			t.Errorf("%s: a key with a line break at its end: %v", endpoint, err)
		}
		padded.Close()
		for _, bad := range []string{"se\ncret", "se\x00cret", "se\x7fcret", "열쇠secret"} {
			client := mcpmemory.NewClient(endpoint, mcpmemory.WithAPIKey(bad))
			begun := time.Now()
			err := client.Ping(context.Background())
			if !errors.Is(err, mcpmemory.ErrConnection) || !strings.Contains(err.Error(), "WithAPIKey") || strings.Contains(err.Error(), "cret") {
				t.Errorf("%s: the key %q: %v", endpoint, bad, err)
			}
			atOnce(t, endpoint, begun)
			ownData(t, err)
			client.Close()
		}
		for _, header := range [][2]string{{"X-Token", "se\ncret"}, {"X Token", "x"}, {"", "x"}, {"X-Token:", "x"}} {
			client := mcpmemory.NewClient(endpoint, mcpmemory.WithHeader(header[0], header[1]))
			begun := time.Now()
			err := client.Ping(context.Background())
			if !errors.Is(err, mcpmemory.ErrConnection) || !strings.Contains(err.Error(), "WithHeader") || strings.Contains(err.Error(), "cret") {
				t.Errorf("%s: the header %q: %v", endpoint, header, err)
			}
			atOnce(t, endpoint, begun)
			client.Close()
		}
	}
}

func TestParametersThatAreNoJSON(t *testing.T) {
	client := mcpmemory.NewClient("ws://127.0.0.1:1/ws") // nobody is there: nothing can have been sent
	defer client.Close()
	ctx := background(t)
	begun := time.Now()
	_, err := client.Call(ctx, "tools/list", map[string]any{"cursor": make(chan int)})
	var unsupported *json.UnsupportedTypeError
	if !errors.As(err, &unsupported) {
		t.Errorf("parameters that are no JSON: %v", err)
	}
	if _, err := client.MemoryStore(ctx, mcpmemory.Arguments{"content": func() {}}); !errors.As(err, &unsupported) {
		t.Errorf("arguments that are no JSON: %v", err)
	}
	atOnce(t, "no JSON", begun)
}

func TestResourceThatIsNotThere(t *testing.T) {
	overEach(t, func(t *testing.T, client *mcpmemory.Client, project string) {
		_, err := client.ReadResource(background(t), mcpmemory.MemoryURI("Nobody of "+project))
		var missing *mcpmemory.NotFoundError
		if !errors.As(err, &missing) || !errors.Is(err, mcpmemory.ErrNotFound) || missing.Code != -32002 {
			t.Errorf("a memory that is not there: %v", err)
		}
	})
}
