package mcpmemory

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	processEnds   = 5 * time.Second // in which a server has to end when its input does
	rememberBytes = 4096            // of what a server wrote to stderr, for the error when it ends
)

type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	errors  *tail

	once   sync.Once
	reason error
}

func openProcess(_ context.Context, c *Client) (connection, error) {
	command := exec.Command(c.command[0], c.command[1:]...)
	if len(c.environment) > 0 {
		command.Env = append(os.Environ(), c.environment...)
	}
	p := &process{command: command, errors: &tail{also: c.stderr}}
	command.Stderr = p.errors
	input, err := command.StdinPipe()
	if err != nil {
		return nil, &lost{fatal: true, err: err}
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, &lost{fatal: true, err: err}
	}
	if err := command.Start(); err != nil {
		return nil, &lost{fatal: true, err: fmt.Errorf("cannot start the server: %w", err)}
	}
	p.input, p.output = input, bufio.NewReaderSize(output, 64*1024)
	return newDuplex(p, c.handle), nil
}

func (p *process) read() ([]byte, error) {
	line, err := p.output.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimSpace(line), nil
}

func (p *process) write(data []byte) error {
	_, err := p.input.Write(append(data, '\n'))
	return err
}

func (p *process) close(err error) error {
	p.once.Do(func() {
		p.input.Close()
		killer := time.AfterFunc(processEnds, func() { p.command.Process.Kill() })
		ended := p.command.Wait()
		killer.Stop()
		if errors.Is(err, ErrClosed) {
			return
		}
		text := "the server ended"
		if errors.Is(err, errNotProtocol) {
			text = err.Error()
		}
		if ended != nil {
			text += " (" + ended.Error() + ")"
		}
		if said := p.errors.text(); said != "" {
			text += ": " + said
		}
		p.reason = errors.New(text)
	})
	return p.reason
}

// tail remembers the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
	also io.Writer
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, data...)
	if over := len(t.kept) - rememberBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	if t.also != nil {
		t.also.Write(data)
	}
	return len(data), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.kept))
}
