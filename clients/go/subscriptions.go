package mcpmemory

import (
	"context"
	"encoding/json"
	"net/url"
)

// Update says that a resource has changed.
type Update struct {
	URI string
	// Reconnected tells that the connection was lost and is there again: the resource may have changed meanwhile.
	Reconnected bool
	// Err is why the server does not tell of changes any more, after it was connected to again.
	Err error
}

// Subscription reports the changes of one resource. It lasts until it is closed, whatever becomes of the
// connection.
type Subscription struct {
	URI    string
	client *Client
	news   chan Update
	done   chan struct{}
	begun  bool // whether the server has agreed; under the lock of the client
}

// MemoryURI is the address of a memory by its name, to read it or to subscribe to it.
func MemoryURI(name string) string { return "memory://memory/" + url.PathEscape(name) }

// Subscribe calls changed whenever the resource changes, whoever changes it. Calls come one after another, on a
// goroutine of the subscription; changes that come while one is under way are told together by the next.
func (c *Client) Subscribe(ctx context.Context, uri string, changed func(Update)) (*Subscription, error) {
	s := &Subscription{URI: uri, client: c, news: make(chan Update, 1), done: make(chan struct{})}
	// It is added first: should the connection be lost after the server has agreed, the next one begins with it.
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, c.closedError()
	}
	if c.watched[uri] == nil {
		c.watched[uri] = map[*Subscription]struct{}{}
	}
	c.watched[uri][s] = struct{}{}
	c.mu.Unlock()
	if _, err := c.Call(ctx, "resources/subscribe", map[string]string{"uri": uri}); err != nil {
		s.forget()
		return nil, err
	}
	c.mu.Lock()
	s.begun = true
	if c.conn != nil {
		c.conn.listen()
	}
	c.mu.Unlock()
	go s.deliver(changed)
	return s, nil
}

// SubscribeMemory is [Client.Subscribe] for a memory by its name: that of an entity of the knowledge graph. The server
// agrees to any name, as an entity of that name may come later; the id of a content never reports anything.
func (c *Client) SubscribeMemory(ctx context.Context, name string, changed func(Update)) (*Subscription, error) {
	return c.Subscribe(ctx, MemoryURI(name), changed)
}

// Close ends the subscription. A call of its function that is under way is not waited for.
func (s *Subscription) Close(ctx context.Context) error {
	if left, was := s.forget(); !was || left > 0 {
		return nil
	}
	_, err := s.client.Call(ctx, "resources/unsubscribe", map[string]string{"uri": s.URI})
	return err
}

// forget takes the subscription out of the client, and returns how many others the resource has.
func (s *Subscription) forget() (left int, was bool) {
	c := s.client
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.watched[s.URI]
	if _, was = all[s]; !was {
		return len(all), false
	}
	delete(all, s)
	if len(all) == 0 {
		delete(c.watched, s.URI)
	}
	close(s.done)
	return len(all), true
}

func (s *Subscription) deliver(changed func(Update)) {
	for {
		select {
		case <-s.done:
			return
		case update := <-s.news:
			changed(update)
		}
	}
}

// publish passes an update on to everybody who subscribed to the resource.
func (c *Client) publish(uri string, update Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.watched[uri] {
		if update.Reconnected && !one.begun {
			continue // it was connected to for this very subscription
		}
		select {
		case one.news <- update:
		default: // it will look at the resource anyway
		}
	}
}

// handle takes what a server sends without being asked.
func (c *Client) handle(conn connection, said message) {
	if said.isRequest() {
		c.reply(conn, said)
		return
	}
	switch said.Method {
	case "notifications/progress":
		var params struct {
			Token int64 `json:"progressToken"`
			Progress
		}
		if json.Unmarshal(said.Params, &params) == nil {
			c.mu.Lock()
			report := c.progress[params.Token]
			c.mu.Unlock()
			if report != nil {
				report(params.Progress)
			}
		}
	case "notifications/resources/updated":
		var params struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(said.Params, &params) == nil {
			c.publish(params.URI, Update{URI: params.URI})
		}
	}
	if c.notification != nil {
		c.notification(said.Method, said.Params)
	}
}

// reply answers what a server asks: a ping, and that there is nothing else here.
func (c *Client) reply(conn connection, asked message) {
	answer := map[string]any{"jsonrpc": "2.0", "id": asked.ID}
	if asked.Method == "ping" {
		answer["result"] = map[string]any{}
	} else {
		answer["error"] = map[string]any{"code": -32601, "message": "Method not found: " + asked.Method}
	}
	if data, err := encode(answer); err == nil {
		go conn.notify(data) // this is the goroutine that reads
	}
}
