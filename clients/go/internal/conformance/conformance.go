// Package conformance replays the calls and faults that every client replays, and writes what came as canonical JSON.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	mcpmemory "github.com/polymnia/polymnia-go"
)

// Table is clients/conformance/calls.json.
type Table struct {
	Calls  []Call `json:"calls"`
	Faults []Call `json:"faults"`
}

// Call is one line of the table.
type Call struct {
	ID        string            `json:"id"`
	Call      string            `json:"call"`
	Arguments map[string]any    `json:"arguments"`
	Save      map[string]string `json:"save"`
	Error     string            `json:"error"` // the type of the error that is expected
}

// Replay makes the calls of a table in order and writes one line each. unexpected lists what did not go as the table
// says; it is written all the same.
func Replay(ctx context.Context, client *mcpmemory.Client, table *Table, out io.Writer) (unexpected []string, err error) {
	saved := map[string]any{}
	for _, call := range append(append([]Call{}, table.Calls...), table.Faults...) {
		arguments := filled(call.Arguments, saved).(map[string]any)
		var result *mcpmemory.Result
		var failed error
		if call.Error != "" {
			result, failed = client.CallTool(ctx, call.Call, arguments)
		} else {
			result, failed = byMethod(ctx, client, call.Call, arguments)
		}
		line := map[string]any{"id": call.ID}
		kind := ""
		if failed != nil {
			line["error"], kind = described(failed)
		} else {
			line["answer"] = result.Value()
			for name, field := range saves(call, result) {
				saved[name] = field
			}
		}
		if kind != call.Error {
			unexpected = append(unexpected, fmt.Sprintf("%s %s: %q in place of %q: %v", call.ID, call.Call, kind, call.Error, failed))
		}
		written, err := canonical(line)
		if err != nil {
			return unexpected, fmt.Errorf("%s: %w", call.ID, err)
		}
		if _, err := out.Write(append(written, '\n')); err != nil {
			return unexpected, err
		}
	}
	return unexpected, nil
}

func saves(call Call, result *mcpmemory.Result) map[string]any {
	found := map[string]any{}
	for name, field := range call.Save {
		found[name] = result.Field(field)
	}
	return found
}

// filled puts what was saved in place of ${name}.
func filled(value any, saved map[string]any) any {
	switch value := value.(type) {
	case string:
		if name, ok := strings.CutPrefix(value, "${"); ok && strings.HasSuffix(name, "}") {
			return saved[strings.TrimSuffix(name, "}")]
		}
	case []any:
		all := make([]any, len(value))
		for i, one := range value {
			all[i] = filled(one, saved)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(value))
		for key, one := range value {
			all[key] = filled(one, saved)
		}
		return all
	}
	return value
}

// byMethod calls the method of an operation with its request, or that of a tool with arguments.
func byMethod(ctx context.Context, client *mcpmemory.Client, name string, arguments map[string]any) (*mcpmemory.Result, error) {
	var words []string
	for _, word := range strings.Split(name, "_") {
		words = append(words, strings.ToUpper(word[:1])+word[1:])
	}
	method := reflect.ValueOf(client).MethodByName(strings.Join(words, ""))
	if !method.IsValid() {
		return nil, fmt.Errorf("the client has no method for %s", name)
	}
	request := reflect.ValueOf(mcpmemory.Arguments(arguments))
	if wanted := method.Type().In(1); wanted.Kind() == reflect.Pointer {
		request = reflect.New(wanted.Elem())
		data, err := json.Marshal(arguments)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(strings.NewReader(string(data)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(request.Interface()); err != nil {
			return nil, fmt.Errorf("the request of %s does not take these arguments: %w", name, err)
		}
	}
	told := method.Call([]reflect.Value{reflect.ValueOf(ctx), request})
	if err, _ := told[1].Interface().(error); err != nil {
		return nil, err
	}
	if result, ok := told[0].Interface().(*mcpmemory.Result); ok {
		return result, nil
	}
	return told[0].Elem().FieldByName("Result").Interface().(*mcpmemory.Result), nil
}

var kinds = []struct {
	sentinel error
	name     string
}{
	{mcpmemory.ErrTool, "tool_error"},
	{mcpmemory.ErrConnection, "connection_error"},
	{mcpmemory.ErrBadRequest, "bad_request"},
	{mcpmemory.ErrUnauthorized, "unauthorized"},
	{mcpmemory.ErrForbidden, "forbidden"},
	{mcpmemory.ErrNotFound, "not_found"},
	{mcpmemory.ErrConflict, "conflict"},
	{mcpmemory.ErrValidation, "validation_error"},
	{mcpmemory.ErrRateLimited, "rate_limited"},
	{mcpmemory.ErrInternal, "internal_error"},
	{mcpmemory.ErrServiceUnavailable, "service_unavailable"},
	{mcpmemory.ErrTimeout, "timeout"},
	{mcpmemory.ErrCancelled, "cancelled"},
}

// described is an error as the lines have it, and its type.
func described(err error) (map[string]any, string) {
	kind := "error"
	for _, one := range kinds {
		if errors.Is(err, one.sentinel) {
			kind = one.name
			break
		}
	}
	found := map[string]any{"type": kind, "code": json.Number("0"), "message": err.Error(), "data": nil}
	var said *mcpmemory.Error
	if errors.As(err, &said) {
		found["code"] = json.Number(fmt.Sprint(said.Code))
		found["message"] = said.Message
		if said.Data != nil {
			found["data"] = json.RawMessage(said.Data)
		}
	}
	return found, kind
}
