// Package mcpmemory is the Go client of Polymnia, a memory server that speaks the Model Context Protocol.
//
// A client is made without a connection and connects at its first call:
//
//	client := mcpmemory.NewClient("ws://localhost:9080/ws", mcpmemory.WithAPIKey(key))
//	defer client.Close()
//
//	stored, err := client.StoreContent(ctx, &mcpmemory.StoreContentRequest{
//		ProjectID: "my-project",
//		Content:   "Important information to remember",
//	})
//
// The scheme of the endpoint chooses the transport: ws and wss for WebSocket, http and https for Streamable HTTP, and
// "stdio" for a server that the client starts itself (see [WithCommand]).
//
// A [Client] may be used by any number of goroutines at once. Every call is bounded by the deadline of its
// context or, where that has none, by the timeout of the client. Within that time the client reconnects when the
// connection is lost, and sends the call again: every write carries an id, so that a server that did it already returns
// the same answer instead of doing it twice. A call that is refused by a rate limit waits as long as the server says,
// which does not count toward the timeout of the client; a deadline that is earlier fails the call at once. A call that
// was cancelled or timed out may have been done by the server all the same.
//
// A function that is passed to the client (progress, subscriptions, notifications) and panics ends the program: the
// client recovers nothing.
//
// Errors of the server have a type for each code ([NotFoundError], [ValidationError], ...), all of which unwrap to
// [*Error]; [errors.Is] knows them by [ErrNotFound] and so on.
package mcpmemory
