package mcpmemory

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	streamSilence  = 60 * time.Second // after which a stream that shows no sign of life is opened again
	cleanupTimeout = 2 * time.Second  // for what is sent without waiting for the call: cancellations, the end of a session
	mostOfAnError  = 1 << 20          // bytes that are read of the body of a refusal
)

var errSessionOver = errors.New("the session is over")

// web is a session over Streamable HTTP.
type web struct {
	client *Client
	http   *http.Client
	ctx    context.Context
	stop   context.CancelFunc

	mu        sync.Mutex
	session   string
	listening bool
	ended     bool
	closed    chan struct{}
}

func openWeb(_ context.Context, c *Client) (connection, error) {
	w := &web{client: c, http: c.httpClient, closed: make(chan struct{})}
	if w.http == nil {
		w.http = defaultHTTP
	}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w, nil
}

// defaultHTTP keeps as many connections as there are calls at once; the default of Go keeps two.
var defaultHTTP = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &http.Client{Transport: transport}
}()

func (w *web) exchange(ctx context.Context, id int64, data []byte) (message, error) {
	answer, err := w.post(ctx, data)
	if err != nil && ctx.Err() != nil {
		go w.notify(cancellation(id, context.Cause(ctx).Error()))
		return message{}, ctx.Err()
	}
	return answer, err
}

func (w *web) post(ctx context.Context, data []byte) (message, error) {
	request, err := w.request(ctx, http.MethodPost, data)
	if err != nil {
		return message{}, &lost{fatal: true, err: err}
	}
	response, err := w.http.Do(request)
	if err != nil {
		return message{}, &lost{fatal: isPermanent(err), err: err}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return message{}, w.refused(response)
	}
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		w.mu.Lock()
		w.session = session
		w.mu.Unlock()
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		return w.follow(ctx, response.Body)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return message{}, &lost{err: err}
	}
	answer, err := parse(body)
	if err != nil {
		if !w.begun() {
			err = notAnEndpoint(w.client.endpoint, response, "")
		}
		return message{}, &lost{fatal: true, err: err}
	}
	return answer, nil
}

// begun tells whether the server has agreed to a session.
func (w *web) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session != ""
}

// follow reads a stream until the answer comes. A stream that breaks is gone on with where it broke.
func (w *web) follow(ctx context.Context, body io.Reader) (message, error) {
	stream := newEvents(body)
	pause := backoff{}
	for {
		answer, ok, err := w.readAnswer(stream)
		if ok {
			return answer, nil
		}
		if stream.id == "" {
			return message{}, &lost{err: err}
		}
		for {
			if err := pause.sleep(ctx); err != nil {
				return message{}, err
			}
			response, failed := w.open(ctx, stream.id)
			if failed == nil {
				defer response.Body.Close()
				stream = &events{in: newEvents(response.Body).in, id: stream.id}
				break
			}
			var refusal *lost
			if !errors.As(failed, &refusal) || refusal.fatal || errors.Is(failed, errSessionOver) {
				return message{}, &lost{err: err}
			}
		}
	}
}

// readAnswer passes notifications of a stream on until there is an answer; ok tells whether there is.
func (w *web) readAnswer(stream *events) (answer message, ok bool, err error) {
	for {
		data, err := stream.next()
		if err != nil {
			return message{}, false, err
		}
		read, err := parse(data)
		if err != nil {
			return message{}, false, err
		}
		if read.Method == "" {
			return read, true, nil
		}
		w.client.handle(w, read)
	}
}

// open opens a stream: that of what belongs to no request, or the rest of one that broke after the event last.
func (w *web) open(ctx context.Context, last string) (*http.Response, error) {
	request, err := w.request(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, &lost{fatal: true, err: err}
	}
	request.Header.Set("Accept", "text/event-stream")
	if last != "" {
		request.Header.Set("Last-Event-Id", last)
	}
	response, err := w.http.Do(request)
	if err != nil {
		return nil, &lost{fatal: isPermanent(err), err: err}
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, w.refused(response)
	}
	return response, nil
}

func (w *web) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listening || w.ended {
		return
	}
	w.listening = true
	go w.listenAll()
}

// listenAll reads the stream of what belongs to no request for as long as the session lasts.
func (w *web) listenAll() {
	last := ""
	pause := backoff{}
	for w.ctx.Err() == nil {
		last = w.listenOnce(last, &pause)
		pause.sleep(w.ctx)
	}
}

func (w *web) listenOnce(last string, pause *backoff) string {
	ctx, stop := context.WithCancel(w.ctx)
	defer stop()
	response, err := w.open(ctx, last)
	if err != nil {
		var refusal *lost
		if errors.As(err, &refusal) && refusal.fatal {
			w.end()
		}
		return last
	}
	defer response.Body.Close()
	*pause = backoff{}
	silence := time.AfterFunc(streamSilence, stop)
	defer silence.Stop()
	stream := &events{in: newEvents(&idleReader{response.Body, silence}).in, id: last}
	w.readAnswer(stream)
	return stream.id
}

// idleReader starts a timer anew whenever something was read.
type idleReader struct {
	io.Reader
	timer *time.Timer
}

func (t *idleReader) Read(into []byte) (int, error) {
	n, err := t.Reader.Read(into)
	t.timer.Reset(streamSilence)
	return n, err
}

func (w *web) notify(data []byte) {
	ctx, stop := context.WithTimeout(w.ctx, cleanupTimeout)
	defer stop()
	request, err := w.request(ctx, http.MethodPost, data)
	if err != nil {
		return
	}
	if response, err := w.http.Do(request); err == nil {
		io.Copy(io.Discard, io.LimitReader(response.Body, mostOfAnError))
		response.Body.Close()
	}
}

func (w *web) request(ctx context.Context, method string, data []byte) (*http.Request, error) {
	var body io.Reader
	if data != nil {
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, w.client.endpoint, body)
	if err != nil {
		return nil, err
	}
	request.Header = w.client.headers()
	if data != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
	}
	w.mu.Lock()
	session := w.session
	w.mu.Unlock()
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
		request.Header.Set("Mcp-Protocol-Version", protocolVersion)
	}
	return request, nil
}

// refused reads a refusal; one that says that there is no such session ends this one.
func (w *web) refused(response *http.Response) error {
	begun := w.begun()
	err := refused(response, w.client.endpoint, !begun)
	if response.StatusCode == http.StatusNotFound && begun {
		w.end()
		return &lost{err: fmt.Errorf("%w: %w", errSessionOver, err)}
	}
	return err
}

func (w *web) done() <-chan struct{} { return w.closed }

func (w *web) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return false
	}
	w.ended = true
	close(w.closed)
	w.stop()
	return true
}

func (w *web) close() {
	w.mu.Lock()
	session := w.session
	w.mu.Unlock()
	if !w.end() || session == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), cleanupTimeout)
	defer stop()
	if request, err := w.request(ctx, http.MethodDelete, nil); err == nil {
		if response, err := w.http.Do(request); err == nil {
			response.Body.Close()
		}
	}
}

// refused is what a server says by the status of its answer, in the words of its body where it has some. It is a *lost
// that may be tried again where the server, or a proxy before it, is not ready or asks to wait. While connecting it may
// also mean that there is no MCP server at this address.
func refused(response *http.Response, endpoint string, connecting bool) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, mostOfAnError))
	status := response.StatusCode
	failure := ownError(status, kindOf(status), response.Status, map[string]any{"status": status})
	var read message
	explained := json.Unmarshal(body, &read) == nil && read.Error != nil
	if explained {
		failure = read.Error.failure()
	}
	if connecting && isElsewhere(status, explained) {
		said := ""
		if explained {
			said = failure.Message
		}
		return &lost{fatal: true, err: notAnEndpoint(endpoint, response, said)}
	}
	if seconds, err := strconv.ParseFloat(response.Header.Get("Retry-After"), 64); err == nil && seconds >= 0 {
		failure.RetryAfter = time.Duration(seconds * float64(time.Second))
	}
	answer := &lost{wait: failure.RetryAfter, limited: status == http.StatusTooManyRequests, err: typed(failure)}
	if answer.limited && answer.wait <= 0 {
		answer.wait = time.Second
	}
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	case http.StatusConflict: // the session has a stream already: the server has not seen yet that it broke
	default:
		answer.fatal = true
	}
	return answer
}

// kindOf is the error_type of a status without an explanation.
func kindOf(status int) string {
	if known := sentinels[status]; known != nil {
		return strings.ReplaceAll(known.Error(), " ", "_")
	}
	return "error"
}

// isElsewhere tells whether the status of a first answer says that this is not the address of an MCP server.
func isElsewhere(status int, explained bool) bool {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUpgradeRequired:
		return true
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return !explained && status < 500
}

// notAnEndpoint is the error of an address that answers, but not as an MCP server does. said is its explanation.
func notAnEndpoint(endpoint string, response *http.Response, said string) error {
	answered := response.Status
	if said != "" {
		answered += " (" + said + ")"
	} else if kind := response.Header.Get("Content-Type"); kind != "" {
		answered += " (" + kind + ")"
	}
	text := fmt.Errorf("this is not the address of an MCP server: it answered %s", answered)
	at, err := url.Parse(endpoint)
	if err != nil {
		return newConnectionError(endpoint, text)
	}
	secure := ""
	if at.Scheme == "wss" || at.Scheme == "https" {
		secure = "s"
	}
	try := fmt.Sprintf("ws%s://%s/ws or http%s://%s/mcp", secure, at.Host, secure, at.Host)
	return newConnectionError(endpoint, fmt.Errorf("%w; a Polymnia server is reached at /ws or /mcp: %s", text, try), "Use "+try)
}

// isPermanent tells whether trying again is of no use: the two sides do not agree who the other is, or on TLS at all.
func isPermanent(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var network *net.OpError
	if errors.As(err, &network) && (network.Op == "remote error" || network.Op == "local error") {
		return true // a TLS alert
	}
	return errors.As(err, &certificate) || errors.As(err, &record)
}
