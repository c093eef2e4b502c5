// Command replay replays clients/conformance/calls.json against the server at POLYMNIA_URL:
//
//	go run ./internal/conformance/replay [calls.json]
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	mcpmemory "github.com/polymnia/polymnia-go"
	"github.com/polymnia/polymnia-go/internal/conformance"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	endpoint := os.Getenv("POLYMNIA_URL")
	if endpoint == "" {
		return fmt.Errorf("set POLYMNIA_URL to the address of a server with an empty store")
	}
	path := "../conformance/calls.json"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var table conformance.Table
	if err := json.Unmarshal(data, &table); err != nil {
		return err
	}
	client := mcpmemory.NewClient(endpoint,
		mcpmemory.WithAPIKey(os.Getenv("POLYMNIA_KEY")), mcpmemory.WithTimeout(5*time.Minute),
		mcpmemory.WithClientInfo("conformance", mcpmemory.Version)) // it stands in the history, and so in answers
	defer client.Close()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	unexpected, err := conformance.Replay(context.Background(), client, &table, out)
	for _, line := range unexpected {
		fmt.Fprintln(os.Stderr, line)
	}
	return err
}
