package mcpmemory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

const (
	protocolVersion      = "2025-11-25"
	codeInvalidRequest   = -32600
	codeResourceNotFound = -32002
)

// message is any JSON-RPC message that comes from a server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *wireError      `json:"error"`
}

type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

type request struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

var errNotProtocol = errors.New("the server sent a message that is not JSON-RPC")

var (
	answerHead   = []byte(`{"jsonrpc":"2.0","id":`)
	answerResult = []byte(`,"result":`)
)

// parse reads a message. Most are results in the form in which the server writes them, which is taken apart without
// reading the result itself: whoever decodes the result reads it anyway.
func parse(data []byte) (message, error) {
	data = bytes.TrimSpace(data)
	if rest, ok := bytes.CutPrefix(data, answerHead); ok && len(rest) > 0 && rest[len(rest)-1] == '}' {
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if result, ok := bytes.CutPrefix(rest[digits:], answerResult); ok && digits > 0 {
			return message{ID: rest[:digits:digits], Result: result[:len(result)-1]}, nil
		}
	}
	var read message
	if err := json.Unmarshal(data, &read); err != nil {
		return message{}, fmt.Errorf("%w: %w", errNotProtocol, err)
	}
	return read, nil
}

// number is the id of an answer, or 0 where it is not one of ours.
func (m *message) number() int64 {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// isRequest tells whether the server asks something and waits for an answer.
func (m *message) isRequest() bool {
	return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null"
}

// encode writes JSON as it is: no HTML escapes, which would only make texts longer.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func cancellation(id int64, reason string) []byte {
	data, _ := encode(request{Version: "2.0", Method: "notifications/cancelled", Params: map[string]any{
		"requestId": id, "reason": reason,
	}})
	return data
}
