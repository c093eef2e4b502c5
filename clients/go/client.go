package mcpmemory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultTimeout = 30 * time.Second
	connectTimeout = 30 * time.Second // for one try
	startTimeout   = 2 * time.Minute  // for a server to start and answer
	firstPause     = 50 * time.Millisecond
	longestPause   = 2 * time.Second
)

// Client talks to one server. It connects at its first call, and again whenever the connection is lost. It may be used
// by many goroutines at once.
type Client struct {
	endpoint     string
	key          string
	timeout      time.Duration
	httpClient   *http.Client
	header       http.Header
	command      []string
	environment  []string
	stderr       io.Writer
	name         string
	version      string
	notification func(method string, params json.RawMessage)

	open   func(context.Context, *Client) (connection, error)
	bad    error // why this endpoint cannot be used
	starts bool  // whether it starts the server itself

	sleep func(context.Context, time.Duration) error // waits as long as a server asks

	numbers atomic.Int64 // of requests
	ctx     context.Context
	stop    context.CancelFunc

	mu       sync.Mutex
	conn     connection
	dialing  *attempt
	closed   bool
	server   json.RawMessage // the answer to initialize
	progress map[int64]func(Progress)
	watched  map[string]map[*Subscription]struct{}
}

// MCPMemoryClient is another name of [Client].
type MCPMemoryClient = Client

// Option is a setting of a client.
type Option func(*Client)

// WithAPIKey sends a key with everything: Authorization: Bearer. Whitespace around the key is dropped. With a key that
// no HTTP header can carry every call fails at once.
func WithAPIKey(key string) Option { return func(c *Client) { c.key = strings.TrimSpace(key) } }

// WithTimeout bounds every call whose context has no deadline, all its retries included. 0 stands for the default, 30
// seconds; a negative timeout for no bound. The pauses that a rate limit of the server asks for do not count; the
// deadline of a context bounds them too.
func WithTimeout(timeout time.Duration) Option { return func(c *Client) { c.timeout = timeout } }

// WithHTTPClient chooses the HTTP client, for HTTP and for the handshake of a WebSocket: proxies, certificates. It should
// have no Timeout, which would end every stream.
func WithHTTPClient(client *http.Client) Option { return func(c *Client) { c.httpClient = client } }

// WithHeader adds a header to every HTTP request and to the handshake of a WebSocket.
func WithHeader(name, value string) Option { return func(c *Client) { c.header.Add(name, value) } }

// WithCommand says how to start the server for the endpoint "stdio"; `polymnia stdio` unless it is set.
func WithCommand(name string, arguments ...string) Option {
	return func(c *Client) { c.command = append([]string{name}, arguments...) }
}

// WithEnvironment adds variables, written NAME=value, to the environment of a server that the client starts.
func WithEnvironment(variables ...string) Option {
	return func(c *Client) { c.environment = append(c.environment, variables...) }
}

// WithStderr says where the log of a server goes that the client starts; nowhere unless it is set.
func WithStderr(to io.Writer) Option { return func(c *Client) { c.stderr = to } }

// WithClientInfo sets the name and version by which the server knows this program; they stand in the history of
// everything that it changes.
func WithClientInfo(name, version string) Option {
	return func(c *Client) { c.name, c.version = name, version }
}

// WithNotifications handles every notification of the server, including those that the client uses itself. The function
// is called on the goroutine that reads from the server, so it must not block and must not call the client.
func WithNotifications(handle func(method string, params json.RawMessage)) Option {
	return func(c *Client) { c.notification = handle }
}

// NewClient makes a client of the server at an endpoint: ws://, wss://, http://, https://, or "stdio" for a server that
// the client starts itself ("stdio:COMMAND" or [WithCommand] say how). It does not connect yet: what is wrong with an
// endpoint, a key or a header is reported by the first call, at once.
func NewClient(endpoint string, options ...Option) *Client {
	c := &Client{
		endpoint: endpoint,
		sleep:    wait,
		header:   http.Header{},
		command:  []string{"polymnia", "stdio"},
		name:     "polymnia-go",
		version:  Version,
		progress: map[int64]func(Progress){},
		watched:  map[string]map[*Subscription]struct{}{},
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	for _, option := range options {
		option(c)
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	scheme, rest, _ := strings.Cut(endpoint, ":")
	switch strings.ToLower(scheme) {
	case "ws", "wss":
		c.open = openSocket
	case "http", "https":
		c.open = openWeb
	case "stdio":
		c.open = openProcess
		if command := strings.Fields(strings.TrimPrefix(rest, "//")); len(command) > 0 {
			c.command = command
		}
		c.starts = true
		c.endpoint = strings.Join(c.command, " ")
		return c
	default:
		c.bad = errors.New("an endpoint begins with ws://, wss://, http:// or https://, or is stdio")
		return c
	}
	at, err := url.Parse(endpoint)
	if err == nil {
		err = checkAddress(at)
	}
	if err == nil {
		err = c.checkHeaders()
	}
	if err != nil {
		c.bad = err
		return c
	}
	at.RawQuery = at.Query().Encode() // a project may be named in any script
	c.endpoint = at.String()
	return c
}

func checkAddress(at *url.URL) error {
	if at.Hostname() == "" {
		return errors.New("the endpoint names no host")
	}
	if text := at.Port(); text != "" {
		if port, err := strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
			return fmt.Errorf("the endpoint has the port %s; a port is a number from 1 to 65535", text)
		}
	}
	return nil
}

// checkHeaders tells which header cannot be sent. It never shows a value: it may be a secret.
func (c *Client) checkHeaders() error {
	for _, letter := range []byte(c.key) {
		if letter < ' ' || letter > '~' {
			return errors.New("WithAPIKey: the key contains a character that no HTTP header can carry")
		}
	}
	for name, values := range c.header {
		if name == "" || strings.ContainsFunc(name, notInHeaderName) {
			return fmt.Errorf("WithHeader: %q cannot be the name of an HTTP header", name)
		}
		for _, value := range values {
			if strings.ContainsAny(value, "\r\n\x00") {
				return fmt.Errorf("WithHeader: the value of %s contains a character that no HTTP header can carry", name)
			}
		}
	}
	return nil
}

func notInHeaderName(letter rune) bool {
	return letter <= ' ' || letter > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, letter)
}

// Close ends the connection and every call and subscription that still waits; a server that the client started ends
// too. A closed client cannot be used again.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	conn := c.conn
	c.conn = nil
	for _, subscriptions := range c.watched {
		for one := range subscriptions {
			close(one.done)
		}
	}
	clear(c.watched)
	c.mu.Unlock()
	c.stop()
	if conn != nil {
		conn.close()
	}
	return nil
}

func (c *Client) headers() http.Header {
	found := c.header.Clone()
	if found.Get("User-Agent") == "" {
		found.Set("User-Agent", "polymnia-go/"+Version)
	}
	if c.key != "" {
		found.Set("Authorization", "Bearer "+c.key)
	}
	return found
}

// ── connecting ──────────────────────────────────────────────────────────────────────────────────────────

// attempt is a connection that is being made, by one goroutine for everybody who waits for it.
type attempt struct {
	waiters int
	last    error         // why the last try failed
	until   time.Time     // when the server may be asked again, while a rate limit lasts
	changed chan struct{} // closed when until changes
	done    chan struct{}
	conn    connection
	err     error
}

func (a *attempt) pauseUntil(until time.Time) {
	a.until = until
	close(a.changed)
	a.changed = make(chan struct{})
}

// connect returns an open connection, and makes one where there is none.
func (c *Client) connect(ctx context.Context, limit *limit) (connection, error) {
	if c.bad != nil {
		return nil, newConnectionError(c.endpoint, c.bad, "Correct what the client was made with")
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, c.closedError()
	}
	if c.conn != nil && !isDone(c.conn) {
		defer c.mu.Unlock()
		return c.conn, nil
	}
	waited := c.dial()
	waited.waiters++
	c.mu.Unlock()
	for {
		c.mu.Lock()
		until, changed, last := waited.until, waited.changed, waited.last
		c.mu.Unlock()
		if !until.IsZero() {
			if deadline, has := ctx.Deadline(); has && until.After(deadline) {
				c.leave(waited)
				return nil, last // waiting would be of no use
			}
			limit.pause()
		}
		select {
		case <-waited.done:
			limit.resume()
			return waited.conn, waited.err
		case <-changed:
			limit.resume()
		case <-ctx.Done():
			return nil, contextError(ctx, c.endpoint, c.leave(waited))
		}
	}
}

// leave stops waiting for a connection; it returns why there is none yet.
func (c *Client) leave(waited *attempt) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	waited.waiters--
	return waited.last
}

func (c *Client) closedError() error {
	return newConnectionError(c.endpoint, ErrClosed, "Make another client: a closed one cannot be used again")
}

func isDone(conn connection) bool {
	select {
	case <-conn.done():
		return true
	default:
		return false
	}
}

// dial begins to connect unless that has begun already. The caller holds the lock.
func (c *Client) dial() *attempt {
	if c.dialing == nil {
		c.dialing = &attempt{changed: make(chan struct{}), done: make(chan struct{})}
		go c.tryAll(c.dialing)
	}
	return c.dialing
}

// tryAll tries to connect, again and again for as long as somebody wants it.
func (c *Client) tryAll(a *attempt) {
	pause := backoff{}
	for {
		conn, err := c.tryOnce()
		c.mu.Lock()
		if c.closed {
			err = c.closedError()
		}
		if err != nil && conn != nil {
			c.mu.Unlock()
			conn.close()
			conn = nil
			c.mu.Lock()
		}
		var failed *lost
		retry := errors.As(err, &failed) && !failed.fatal && !c.closed && (a.waiters > 0 || len(c.watched) > 0)
		if !retry {
			if errors.As(err, &failed) {
				err = c.publicError(failed)
			}
			a.conn, a.err = conn, err
			c.conn = conn
			c.dialing = nil
			close(a.done)
			if conn != nil {
				go c.watch(conn)
			}
			c.mu.Unlock()
			return
		}
		a.last = failed.err
		if failed.limited {
			a.pauseUntil(time.Now().Add(failed.wait))
		}
		c.mu.Unlock()
		if failed.wait > 0 {
			c.pauseAsAsked(c.ctx, failed)
		} else {
			pause.sleep(c.ctx)
		}
		if failed.limited {
			c.mu.Lock()
			a.pauseUntil(time.Time{})
			c.mu.Unlock()
		}
	}
}

// tryOnce opens a connection and shakes hands. A connection that comes with an error has to be closed.
func (c *Client) tryOnce() (connection, error) {
	bound := connectTimeout
	if c.starts {
		bound = startTimeout
	}
	ctx, stop := context.WithTimeout(c.ctx, bound)
	defer stop()
	conn, err := c.open(ctx, c)
	if err != nil {
		return nil, err
	}
	greeting, err := c.ask(ctx, conn, "initialize", map[string]any{
		"protocolVersion": protocolVersion,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]string{"name": c.name, "version": c.version},
	})
	if err != nil {
		var ended *lost
		if errors.As(err, &ended) && (c.starts || errors.Is(err, errNotProtocol)) {
			ended.fatal = true // a server that ends before it has said a word, or says something else, will do so again
		}
		return conn, err
	}
	initialized, _ := encode(request{Version: "2.0", Method: "notifications/initialized"})
	conn.notify(initialized)
	c.mu.Lock()
	c.server = greeting
	uris := make([]string, 0, len(c.watched))
	for uri := range c.watched {
		uris = append(uris, uri)
	}
	c.mu.Unlock()
	for _, uri := range uris {
		_, err := c.ask(ctx, conn, "resources/subscribe", map[string]string{"uri": uri})
		var failed *lost
		if errors.As(err, &failed) && !failed.fatal {
			return conn, err
		}
		c.publish(uri, Update{URI: uri, Reconnected: true, Err: err}) // it may have changed meanwhile
	}
	if len(uris) > 0 {
		conn.listen()
	}
	return conn, nil
}

// ask is one exchange without retries. An error of the server that asks to wait is *lost.
func (c *Client) ask(ctx context.Context, conn connection, method string, params any) (json.RawMessage, error) {
	id := c.numbers.Add(1)
	data, err := encode(request{Version: "2.0", ID: id, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	answer, err := conn.exchange(ctx, id, data)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &lost{err: fmt.Errorf("no answer to %s: %w", method, err)}
		}
		return nil, err
	}
	return resultOf(answer)
}

// resultOf is the result of an answer, or its error; one that asks to wait is *lost.
func resultOf(answer message) (json.RawMessage, error) {
	if answer.Error == nil {
		return answer.Result, nil
	}
	failure := answer.Error.failure()
	if sentinels[failure.Code] == ErrRateLimited {
		if failure.RetryAfter <= 0 {
			failure.RetryAfter = time.Second
		}
		return nil, &lost{wait: failure.RetryAfter, limited: true, err: typed(failure)}
	}
	return nil, typed(failure)
}

// publicError is the error of a transport as callers see it: what the server said, or that there is no connection.
func (c *Client) publicError(failed *lost) error {
	var said *Error
	if errors.As(failed.err, &said) {
		return failed.err
	}
	suggestion := "Check that the server runs and that the endpoint is its address"
	if isPermanent(failed.err) {
		suggestion = "For a certificate of a private authority pass its pool: WithHTTPClient"
	} else if c.starts {
		suggestion = "Check the command that starts the server: WithCommand"
	}
	return newConnectionError(c.endpoint, failed.err, suggestion)
}

// watch connects again when a connection is lost that somebody listens to.
func (c *Client) watch(conn connection) {
	<-conn.done()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == conn {
		c.conn = nil
	}
	if !c.closed && len(c.watched) > 0 && c.conn == nil {
		c.dial()
	}
}

// ── pauses ──────────────────────────────────────────────────────────────────────────────────────────────

// backoff is how long to wait before trying again: each time twice as long, with some chance in it, so that clients
// which lost a server together do not come back together.
type backoff struct{ pause time.Duration }

func (b *backoff) sleep(ctx context.Context) error {
	b.pause = min(max(2*b.pause, firstPause), longestPause)
	return wait(ctx, b.pause/2+rand.N(b.pause/2))
}

// pauseAsAsked waits as long as the server asks, or until the client is closed.
func (c *Client) pauseAsAsked(ctx context.Context, failed *lost) error {
	slog.DebugContext(ctx, "polymnia: the server asks to wait", "endpoint", c.endpoint, "pause", failed.wait, "reason", failed.err)
	either, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.ctx, stop)()
	err := c.sleep(either, failed.wait)
	if c.ctx.Err() != nil {
		return c.closedError()
	}
	return err
}

// limit ends the context of a call after the timeout of the client. It stands still during the pauses that a rate
// limit asks for. A nil limit ends nothing: the context has a deadline of its own.
type limit struct {
	timer *time.Timer
	left  time.Duration
	since time.Time // zero: it stands still
}

func (c *Client) bounded(ctx context.Context) (context.Context, *limit, func()) {
	if _, has := ctx.Deadline(); has || c.timeout < 0 {
		return ctx, nil, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.timeout, func() { cancel(context.DeadlineExceeded) })
	return ctx, &limit{timer, c.timeout, time.Now()}, func() {
		timer.Stop()
		cancel(nil)
	}
}

func (l *limit) pause() {
	if l != nil && !l.since.IsZero() && l.timer.Stop() {
		l.left -= time.Since(l.since)
		l.since = time.Time{}
	}
}

func (l *limit) resume() {
	if l != nil && l.since.IsZero() {
		l.since = time.Now()
		l.timer.Reset(l.left)
	}
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
