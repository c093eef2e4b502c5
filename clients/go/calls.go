package mcpmemory

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A large message is sent again only so often: it may be why the server closes the connection.
const (
	large            = 1 << 20
	mostTriesOfLarge = 5
)

// Progress is how far a long call is.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total"`
	Message  string  `json:"message"`
}

// CallOption is a setting of one call.
type CallOption func(*callOptions)

type callOptions struct {
	requestID string
	progress  func(Progress)
}

// WithRequestID gives a write an id of your own in place of a random one. The server does what has the same id once,
// for a day: the second time it answers again what it answered the first time.
func WithRequestID(id string) CallOption { return func(o *callOptions) { o.requestID = id } }

// WithProgress reports how far a long call is. The function is called on the goroutine that reads from the server, so it
// must not wait and must not call the client. All progress of a call is reported before the call returns.
func WithProgress(report func(Progress)) CallOption {
	return func(o *callOptions) { o.progress = report }
}

// Arguments are the arguments of a tool by their names on the wire. They can be given to every method that is named as
// a tool, in place of a request: they are sent exactly as they are.
type Arguments map[string]any

// toolCall is a call of a tool as it goes to the server.
type toolCall struct {
	tool      string
	arguments any
	meta      string // the id of a write that goes beside the arguments
}

// toolRequest is anything that the method of a tool takes.
type toolRequest interface {
	call(tool, id string) toolCall
}

func (a Arguments) call(tool, id string) toolCall {
	operation, _ := a["operation"].(string)
	place, ok := operations[tool+"/"+operation]
	if !ok {
		place = idMeta // it may be a write
	}
	call := toolCall{tool: tool, arguments: a}
	if a == nil {
		call.arguments = Arguments{}
	}
	switch place {
	case idMeta:
		call.meta = id
	case idArgument:
		if _, given := a["request_id"]; !given {
			with := make(Arguments, len(a)+1)
			for name, value := range a {
				with[name] = value
			}
			with["request_id"] = id
			call.arguments = with
		}
	}
	return call
}

// idPlace says where the id of a write goes, of every operation that is known.
type idPlace int

const (
	idNowhere idPlace = iota
	idArgument
	idMeta
)

var operations = func() map[string]idPlace {
	places := map[string]idPlace{}
	for place, names := range map[idPlace][]string{idNowhere: reads, idArgument: writes, idMeta: plainWrites} {
		for _, name := range names {
			places[name] = place
		}
	}
	return places
}()

// CallTool calls any tool by its name, those too that this client does not know.
func (c *Client) CallTool(ctx context.Context, tool string, arguments Arguments, options ...CallOption) (*Result, error) {
	return c.callTool(ctx, tool, arguments, options)
}

func (c *Client) callTool(ctx context.Context, tool string, asked toolRequest, options []CallOption) (*Result, error) {
	if asked == nil {
		asked = Arguments{}
	}
	var chosen callOptions
	for _, option := range options {
		option(&chosen)
	}
	id := chosen.requestID
	if id == "" {
		id = newRequestID()
	}
	call := asked.call(tool, id)
	arguments, err := encode(call.arguments)
	if err != nil {
		return nil, fmt.Errorf("the arguments cannot be written as JSON: %w", err)
	}
	raw, err := c.send(ctx, "tools/call", func(id int64) any {
		params := callParams{Name: call.tool, Arguments: arguments}
		params.Meta = map[string]any{maxTokensMeta: 0}
		if call.meta != "" {
			params.Meta[requestIDMeta] = call.meta
		}
		if chosen.progress != nil {
			params.Meta["progressToken"] = id
		}
		return params
	}, chosen.progress)
	if err != nil {
		return nil, err
	}
	return newResult(raw)
}

func newRequestID() string {
	var random [16]byte
	rand.Read(random[:])
	return hex.EncodeToString(random[:])
}

type callParams struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Meta      map[string]any  `json:"_meta,omitempty"`
}

// answered calls a tool and reads its answer into a type of its own.
func answered[T any](ctx context.Context, c *Client, tool string, asked toolRequest, options []CallOption,
	place func(*T) **Result) (*T, error) {
	result, err := c.callTool(ctx, tool, asked, options)
	if err != nil {
		return nil, err
	}
	answer := new(T)
	*place(answer) = result
	if err := result.Decode(answer); err != nil {
		return nil, fmt.Errorf("the answer of %s is not as it should be: %w", tool, err)
	}
	return answer, nil
}

// Call sends any request of the protocol and returns its result.
func (c *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return c.send(ctx, method, func(int64) any { return params }, nil)
}

// Connect connects now rather than at the first call, and returns what the server says of itself: the result of
// initialize.
func (c *Client) Connect(ctx context.Context) (json.RawMessage, error) {
	ctx, limit, stop := c.bounded(ctx)
	defer stop()
	if _, err := c.connect(ctx, limit); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server, nil
}

// Ping asks the server whether it is there.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.Call(ctx, "ping", nil)
	return err
}

// Tool is a tool as the server describes it.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// ListTools returns the tools that the server has.
func (c *Client) ListTools(ctx context.Context) ([]Tool, error) {
	raw, err := c.Call(ctx, "tools/list", nil)
	if err != nil {
		return nil, err
	}
	var read struct {
		Tools []Tool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, err
	}
	return read.Tools, nil
}

// ReadResource reads a resource by its address and returns its text.
func (c *Client) ReadResource(ctx context.Context, uri string) (string, error) {
	raw, err := c.Call(ctx, "resources/read", map[string]string{"uri": uri})
	if err != nil {
		return "", err
	}
	var read struct {
		Contents []struct {
			Text string `json:"text"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return "", err
	}
	if len(read.Contents) == 0 {
		return "", fmt.Errorf("the server answered nothing for %s", uri)
	}
	return read.Contents[0].Text, nil
}

// send sends a request until it is answered or its time is over. params makes its parameters, given the number of the
// request, which is another one each time it is sent.
func (c *Client) send(ctx context.Context, method string, params func(int64) any,
	progress func(Progress)) (json.RawMessage, error) {
	ctx, limit, stop := c.bounded(ctx)
	defer stop()
	var pause backoff
	var last error
	for tries := 0; ; tries++ {
		id := c.numbers.Add(1)
		data, err := encode(request{Version: "2.0", ID: id, Method: method, Params: params(id)})
		if err != nil {
			return nil, fmt.Errorf("the parameters cannot be written as JSON: %w", err)
		}
		conn, err := c.connect(ctx, limit)
		if err != nil {
			return nil, err
		}
		if progress != nil {
			c.mu.Lock()
			c.progress[id] = progress
			c.mu.Unlock()
		}
		answer, err := conn.exchange(ctx, id, data)
		if progress != nil {
			c.mu.Lock()
			delete(c.progress, id)
			c.mu.Unlock()
		}
		var result json.RawMessage
		if err == nil {
			result, err = resultOf(answer)
			if err == nil {
				return result, nil
			}
		}
		var failed *lost
		if !errors.As(err, &failed) {
			if ctx.Err() != nil {
				err = contextError(ctx, c.endpoint, last)
			}
			return nil, err
		}
		if failed.fatal {
			return nil, c.publicError(failed)
		}
		last = c.publicError(failed)
		if len(data) > large && failed.wait == 0 && tries == mostTriesOfLarge {
			return nil, fmt.Errorf("a message of %d bytes was not taken: %w", len(data), last)
		}
		if deadline, has := ctx.Deadline(); has && failed.wait > time.Until(deadline) {
			return nil, last // waiting would be of no use
		}
		switch {
		case failed.limited:
			limit.pause()
			err = c.pauseAsAsked(ctx, failed)
			limit.resume()
			last = nil // what it waited for is over
		case failed.wait > 0:
			err = c.pauseAsAsked(ctx, failed)
		case tries > 0:
			err = pause.sleep(ctx)
		default:
			err = nil
		}
		if errors.Is(err, ErrClosed) {
			return nil, err
		}
		if err != nil {
			return nil, contextError(ctx, c.endpoint, last)
		}
	}
}

// Ptr returns a pointer to a value, for fields in which an empty value says something else than none.
func Ptr[T any](value T) *T { return &value }
