package mcpmemory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// What [errors.Is] knows the errors of the server by, one for each code, and the failures of the client itself.
var (
	ErrBadRequest         = errors.New("bad request")
	ErrUnauthorized       = errors.New("unauthorized")
	ErrForbidden          = errors.New("forbidden")
	ErrNotFound           = errors.New("not found")
	ErrConflict           = errors.New("conflict")
	ErrValidation         = errors.New("validation error")
	ErrInternal           = errors.New("internal error")
	ErrServiceUnavailable = errors.New("service unavailable")
	ErrRateLimited        = errors.New("rate limited")
	ErrTimeout            = errors.New("timeout")
	ErrCancelled          = errors.New("cancelled")
	ErrTool               = errors.New("tool error")
	ErrConnection         = errors.New("connection error")
	ErrClosed             = errors.New("the client is closed") // an ErrConnection too
)

// Error is what a server answers instead of a result. Each code of the API has a type of its own around it, so that
// both errors.As(err, &notFound) and errors.As(err, &base) work; an Error with another code comes as it is.
type Error struct {
	Code    int             // code of the JSON-RPC error
	Message string          // what happened and why
	Data    json.RawMessage // data of the JSON-RPC error as it came; may be nil

	Type             string         // data.error_type
	Details          map[string]any // data.details
	Suggestions      []string       // data.suggestions
	DocumentationURL string         // data.documentation_url
	RetryAfter       time.Duration  // how long to wait before calling again, where the server says so

	cause error
}

func (e *Error) Error() string {
	if e.Code == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// Unwrap returns what the error came from, where that was not the server.
func (e *Error) Unwrap() error { return e.cause }

// Is tells whether target is the sentinel of this error's code.
func (e *Error) Is(target error) bool {
	known, ok := sentinels[e.Code]
	return ok && known == target
}

// base lets the types below have what an Error has without a field that hides its method.
type base = Error

// The errors of the API, one type for each code.
type (
	// BadRequestError is code 400: the request is malformed, or there is no such operation.
	BadRequestError struct{ *base }
	// UnauthorizedError is code 401: a key is missing, or opens nothing.
	UnauthorizedError struct{ *base }
	// ForbiddenError is code 403: the key or a setting of the server does not allow it.
	ForbiddenError struct{ *base }
	// NotFoundError is code 404: there is no such content, memory or session; or -32002: there is no such resource.
	NotFoundError struct{ *base }
	// ConflictError is code 409: something else stands in the way, a name that is taken for example.
	ConflictError struct{ *base }
	// ValidationError is code 422: parameters are not valid. Details says which.
	ValidationError struct{ *base }
	// InternalError is code 500: the server failed.
	InternalError struct{ *base }
	// ServiceUnavailableError is code 502: something the server needs is missing.
	ServiceUnavailableError struct{ *base }
	// RateLimitedError is code 503 (and 429): too many calls. RetryAfter says when to call again. The client waits that
	// long by itself; it returns this error only when the deadline of the call's context is earlier.
	RateLimitedError struct{ *base }
	// TimeoutError is code 504: the server gave up waiting, or the timeout of the client is over. In the latter case
	// errors.Is(err, context.DeadlineExceeded) holds too.
	TimeoutError struct{ *base }
	// CancelledError is code -32800: the server was told that nobody wants the answer. A call whose own context is
	// cancelled ends with the error of the context.
	CancelledError struct{ *base }
	// ToolError is the answer of a tool that says itself that it failed (isError). Result is the whole answer.
	ToolError struct {
		*base
		Result *Result
	}
)

func (e *BadRequestError) Unwrap() error         { return e.base }
func (e *UnauthorizedError) Unwrap() error       { return e.base }
func (e *ForbiddenError) Unwrap() error          { return e.base }
func (e *NotFoundError) Unwrap() error           { return e.base }
func (e *ConflictError) Unwrap() error           { return e.base }
func (e *ValidationError) Unwrap() error         { return e.base }
func (e *InternalError) Unwrap() error           { return e.base }
func (e *ServiceUnavailableError) Unwrap() error { return e.base }
func (e *RateLimitedError) Unwrap() error        { return e.base }
func (e *TimeoutError) Unwrap() error            { return e.base }
func (e *CancelledError) Unwrap() error          { return e.base }
func (e *ToolError) Unwrap() error               { return e.base }

// Is tells whether target is [ErrTool].
func (e *ToolError) Is(target error) bool { return target == ErrTool }

var sentinels = map[int]error{
	-32800:               ErrCancelled,
	codeResourceNotFound: ErrNotFound,
	400:                  ErrBadRequest,
	401:                  ErrUnauthorized,
	403:                  ErrForbidden,
	404:                  ErrNotFound,
	409:                  ErrConflict,
	422:                  ErrValidation,
	429:                  ErrRateLimited,
	500:                  ErrInternal,
	502:                  ErrServiceUnavailable,
	503:                  ErrRateLimited,
	504:                  ErrTimeout,
}

// typed wraps an error in the type of its code.
func typed(e *Error) error {
	switch e.Code {
	case 400:
		return &BadRequestError{e}
	case 401:
		return &UnauthorizedError{e}
	case 403:
		return &ForbiddenError{e}
	case 404, codeResourceNotFound:
		return &NotFoundError{e}
	case 409:
		return &ConflictError{e}
	case 422:
		return &ValidationError{e}
	case 500:
		return &InternalError{e}
	case 502:
		return &ServiceUnavailableError{e}
	case 429, 503:
		return &RateLimitedError{e}
	case 504:
		return &TimeoutError{e}
	case -32800:
		return &CancelledError{e}
	}
	return e
}

// failure is a JSON-RPC error as an error of this package.
func (w *wireError) failure() *Error {
	e := &Error{Code: w.Code, Message: w.Message, Data: w.Data}
	var data struct {
		Type             string         `json:"error_type"`
		Details          map[string]any `json:"details"`
		Suggestions      []string       `json:"suggestions"`
		DocumentationURL string         `json:"documentation_url"`
		RetryAfter       float64        `json:"retry_after"`
	}
	if len(w.Data) > 0 && json.Unmarshal(w.Data, &data) == nil {
		e.Type, e.Details, e.Suggestions = data.Type, data.Details, data.Suggestions
		e.DocumentationURL = data.DocumentationURL
		e.RetryAfter = time.Duration(data.RetryAfter * float64(time.Second))
	}
	return e
}

// ownError is an error that the client makes itself; it has data in the form in which the server sends it.
func ownError(code int, kind, message string, details map[string]any, suggestions ...string) *Error {
	if details == nil {
		details = map[string]any{}
	}
	if suggestions == nil {
		suggestions = []string{}
	}
	data, _ := encode(map[string]any{"error_type": kind, "details": details, "suggestions": suggestions})
	return &Error{
		Code: code, Message: message, Data: data, Type: kind, Details: details, Suggestions: suggestions,
	}
}

// ConnectionError says that there was no connection to the server within the time of the call, that there can be none
// (a certificate that is not accepted, an address without an MCP server, a malformed endpoint or key), or that the
// client is closed. Its Code is 0.
type ConnectionError struct {
	*base
	Endpoint string
	Err      error // the error of the network or of the process
}

func newConnectionError(endpoint string, err error, suggestions ...string) *ConnectionError {
	text := fmt.Sprintf("no connection to %s: %v", endpoint, err)
	return &ConnectionError{ownError(0, "connection_error", text, map[string]any{"endpoint": endpoint}, suggestions...), endpoint, err}
}

// Unwrap returns the error as an [*Error], and that of the network or of the process.
func (e *ConnectionError) Unwrap() []error { return []error{e.base, e.Err} }

// Is tells whether target is [ErrConnection].
func (e *ConnectionError) Is(target error) bool { return target == ErrConnection }

// contextError is the error of a call whose context is over. last is why there was no answer until then, if that is known.
func contextError(ctx context.Context, endpoint string, last error) error {
	err := context.Cause(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var known *ConnectionError
	if errors.As(last, &known) {
		last = known.Err
	}
	if last != nil {
		return newConnectionError(endpoint, fmt.Errorf("%w (%w)", last, err), "Check that the server runs and that the endpoint is its address")
	}
	timeout := ownError(504, "timeout", fmt.Sprintf("no answer from %s in time", endpoint), nil,
		"Allow more time: a later deadline of the context, or WithTimeout")
	timeout.cause = err
	return &TimeoutError{timeout}
}

// lost is how a transport says that there was no answer; the call may be sent again.
type lost struct {
	fatal   bool          // whether trying again is of no use
	wait    time.Duration // how long the server asks to wait
	limited bool          // whether it asks that because of a rate limit
	err     error
}

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }
