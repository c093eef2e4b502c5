package mcpmemory

import (
	"bufio"
	"bytes"
	"io"
)

// events reads a stream of server-sent events.
type events struct {
	in *bufio.Reader
	id string // of the last event that was read whole
}

func newEvents(in io.Reader) *events {
	return &events{in: bufio.NewReaderSize(in, 16*1024)}
}

// next returns the data of the next event that has some. Its error is that of the stream, io.EOF at its end.
func (e *events) next() ([]byte, error) {
	var data []byte
	id := e.id
	for {
		line, err := e.in.ReadBytes('\n')
		if err != nil {
			return nil, err // what has not ended with an empty line is no event
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			e.id = id
			if len(data) > 0 {
				return data, nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			id = string(value)
		case "data":
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
	}
}
