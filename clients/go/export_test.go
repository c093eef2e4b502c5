package mcpmemory

import (
	"context"
	"time"
)

// WithSleep replaces how a client waits when the server asks it to.
func WithSleep(sleep func(context.Context, time.Duration) error) Option {
	return func(c *Client) { c.sleep = sleep }
}
