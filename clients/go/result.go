package mcpmemory

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Result is what a tool answers.
type Result struct {
	// Raw is the result of the JSON-RPC message as it came.
	Raw json.RawMessage
	// JSON is the answer itself: the structured content where there is one, else the text where it is
	// an object or an array of JSON, else nil.
	JSON json.RawMessage
	// Text is the text for people and models.
	Text string
}

// Value returns the answer as plain values: the JSON read into maps, slices and json.Number, or else the text.
func (r *Result) Value() any {
	if r.JSON == nil {
		return r.Text
	}
	decoder := json.NewDecoder(bytes.NewReader(r.JSON))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return r.Text
	}
	return value
}

// Decode reads the answer into a struct or a map of your own.
func (r *Result) Decode(into any) error {
	if r.JSON == nil {
		return fmt.Errorf("the answer is text and no JSON: %.80q", r.Text)
	}
	return json.Unmarshal(r.JSON, into)
}

// Field returns one field of the answer by its name on the wire, or nil where there is none.
func (r *Result) Field(name string) any {
	fields, _ := r.Value().(map[string]any)
	return fields[name]
}

// String returns the JSON of the answer, or its text.
func (r *Result) String() string {
	if r.JSON == nil {
		return r.Text
	}
	return string(r.JSON)
}

// newResult reads the result of tools/call. One that says it failed is an error.
func newResult(raw json.RawMessage) (*Result, error) {
	var read struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return nil, fmt.Errorf("the server answered what is not the result of a tool: %w", err)
	}
	result := &Result{Raw: raw}
	for _, block := range read.Content {
		if block.Type == "text" {
			if result.Text != "" {
				result.Text += "\n"
			}
			result.Text += block.Text
		}
	}
	if len(read.Structured) > 0 && string(read.Structured) != "null" {
		result.JSON = read.Structured
	} else if len(read.Content) > 0 && read.Content[0].Type == "text" {
		// What follows the first text is a remark on it.
		if text := []byte(read.Content[0].Text); len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text) {
			result.JSON = text
		}
	}
	if read.IsError {
		return nil, toolError(result)
	}
	return result, nil
}

// toolError words the answer of a tool that failed. Dialects that answer with JSON have the message in a field.
func toolError(result *Result) error {
	e := &Error{Message: result.Text}
	var said map[string]any
	if result.JSON != nil && json.Unmarshal(result.JSON, &said) == nil {
		e.Data = result.JSON
		if message, ok := said["message"].(string); ok {
			e.Message = message
		}
		e.Type, _ = said["error"].(string)
	}
	return &ToolError{base: e, Result: result}
}
