package mcpmemory

import (
	"context"
	"errors"
	"sync"
	"time"
)

// closeGrace is how long the other side is listened to after it has stopped to listen.
const closeGrace = 200 * time.Millisecond

var errTooLarge = errors.New("the message is too large for the server")

// connection is one way to a server that has been opened, over any transport. Errors of exchange are *lost, or that
// of the context.
type connection interface {
	// exchange sends a request and waits for its answer.
	exchange(ctx context.Context, id int64, data []byte) (message, error)
	// notify sends what is not answered, and ignores failures: whoever waits for an answer learns of them.
	notify(data []byte)
	// listen makes sure that notifications which belong to no request are heard.
	listen()
	// done is closed when the connection cannot be used any more.
	done() <-chan struct{}
	close()
}

// pipe moves whole messages both ways.
type pipe interface {
	read() ([]byte, error)
	write(data []byte) error
	close(err error) error // may be called more than once; returns why the other side ended, where that is known
}

// duplex is a connection over a pipe: a WebSocket, or the input and output of a process.
type duplex struct {
	pipe   pipe
	handle func(connection, message)

	mu      sync.Mutex
	waiting map[int64]*pending
	queue   []*outgoing
	err     error // why it ended
	largest int   // size of the largest message that was not answered then

	wake  chan struct{}
	ended chan struct{}
}

// pending is a request that is not answered yet.
type pending struct {
	answer chan message
	size   int
}

// outgoing is a message on its way. taken is set when the writer has begun with it, under the lock of the connection.
type outgoing struct {
	data      []byte
	taken     bool
	withdrawn bool
}

func newDuplex(p pipe, handle func(connection, message)) *duplex {
	d := &duplex{
		pipe: p, handle: handle, waiting: map[int64]*pending{},
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go d.readAll()
	go d.writeAll()
	return d
}

func (d *duplex) exchange(ctx context.Context, id int64, data []byte) (message, error) {
	answer := make(chan message, 1)
	sending := &outgoing{data: data}
	d.mu.Lock()
	if d.err != nil {
		defer d.mu.Unlock()
		return message{}, &lost{err: d.err}
	}
	d.waiting[id] = &pending{answer, len(data)}
	d.queue = append(d.queue, sending)
	d.mu.Unlock()
	d.signal()

	select {
	case got := <-answer:
		return got, nil
	case <-ctx.Done():
		d.mu.Lock()
		delete(d.waiting, id)
		sending.withdrawn = true
		sent := sending.taken
		d.mu.Unlock()
		if sent {
			d.notify(cancellation(id, context.Cause(ctx).Error()))
		}
		return message{}, ctx.Err()
	case <-d.ended:
		select {
		case got := <-answer: // it came just before the end
			return got, nil
		default:
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if errors.Is(d.err, errTooLarge) && len(data) >= d.largest { // the others were only sent beside it
			failure := ownError(codeInvalidRequest, "bad_request", d.err.Error(), nil, "Send less at once")
			failure.cause = d.err
			return message{}, &lost{fatal: true, err: failure}
		}
		return message{}, &lost{err: d.err}
	}
}

func (d *duplex) notify(data []byte) {
	d.mu.Lock()
	d.queue = append(d.queue, &outgoing{data: data})
	d.mu.Unlock()
	d.signal()
}

func (d *duplex) listen() {}

func (d *duplex) done() <-chan struct{} { return d.ended }

func (d *duplex) close() { d.end(ErrClosed) }

func (d *duplex) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *duplex) readAll() {
	for {
		data, err := d.pipe.read()
		if err != nil {
			d.end(err)
			return
		}
		if len(data) == 0 {
			continue
		}
		read, err := parse(data)
		if err != nil {
			d.end(err)
			return
		}
		if read.Method != "" {
			d.handle(d, read)
			continue
		}
		d.mu.Lock()
		id := read.number()
		waiting := d.waiting[id]
		delete(d.waiting, id)
		d.mu.Unlock()
		if waiting != nil {
			waiting.answer <- read
		}
	}
}

func (d *duplex) writeAll() {
	for {
		select {
		case <-d.wake:
		case <-d.ended:
			return
		}
		for {
			d.mu.Lock()
			if len(d.queue) == 0 {
				d.mu.Unlock()
				break
			}
			next := d.queue[0]
			d.queue = d.queue[1:]
			if next.withdrawn {
				d.mu.Unlock()
				continue
			}
			next.taken = true
			d.mu.Unlock()
			if err := d.pipe.write(next.data); err != nil {
				select { // the reader may know better why
				case <-d.ended:
				case <-time.After(closeGrace):
					d.end(err)
				}
				return
			}
		}
	}
}

// end ends the connection; the first reason counts.
func (d *duplex) end(err error) {
	d.mu.Lock()
	first := d.err == nil
	if first {
		d.err = err
		for _, one := range d.waiting {
			d.largest = max(d.largest, one.size)
		}
	}
	d.mu.Unlock()
	if !first {
		return
	}
	if why := d.pipe.close(err); why != nil && !errors.Is(err, ErrClosed) {
		d.mu.Lock()
		d.err = why
		d.mu.Unlock()
	}
	close(d.ended)
}
