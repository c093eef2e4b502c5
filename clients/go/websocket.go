package mcpmemory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

const (
	keepAlive   = 20 * time.Second // after which an open connection is asked whether it still is one
	keepAliveIn = 10 * time.Second // in which it has to answer
)

type socket struct {
	conn *websocket.Conn
	ctx  context.Context
	stop context.CancelFunc
}

func openSocket(ctx context.Context, c *Client) (connection, error) {
	conn, response, err := websocket.Dial(ctx, c.endpoint, &websocket.DialOptions{
		HTTPClient:      c.httpClient,
		HTTPHeader:      c.headers(),
		Subprotocols:    []string{"mcp"},
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			return nil, refused(response, c.endpoint, true)
		}
		return nil, &lost{fatal: isPermanent(err), err: err}
	}
	conn.SetReadLimit(-1)
	s := &socket{conn: conn}
	s.ctx, s.stop = context.WithCancel(context.Background())
	d := newDuplex(s, c.handle)
	go s.watch(d)
	return d, nil
}

func (s *socket) read() ([]byte, error) {
	_, data, err := s.conn.Read(s.ctx)
	return data, err
}

func (s *socket) write(data []byte) error {
	return s.conn.Write(s.ctx, websocket.MessageText, data)
}

func (s *socket) close(err error) error {
	defer s.stop()
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		s.conn.CloseNow()
		why := fmt.Errorf("the server closed the connection (%d): %s", int(closed.Code), closed.Reason)
		if closed.Code == websocket.StatusMessageTooBig {
			return fmt.Errorf("%w: %w", errTooLarge, why)
		}
		return why
	}
	if errors.Is(err, ErrClosed) {
		s.conn.Close(websocket.StatusNormalClosure, "")
		return nil
	}
	s.conn.CloseNow()
	return nil
}

// watch ends a connection whose other side has vanished without a word.
func (s *socket) watch(d *duplex) {
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-d.ended:
			return
		case <-ticker.C:
		}
		ctx, stop := context.WithTimeout(s.ctx, keepAliveIn)
		err := s.conn.Ping(ctx)
		stop()
		if err != nil {
			d.end(fmt.Errorf("the server does not answer any more: %w", err))
			return
		}
	}
}
