package mcpmemory_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	mcpmemory "github.com/polymnia/polymnia-go"
	"github.com/polymnia/polymnia-go/internal/conformance"
)

func TestConformance(t *testing.T) {
	data, err := os.ReadFile("../conformance/calls.json")
	if err != nil {
		t.Skip("the table of the conformance calls is not part of the module")
	}
	var table conformance.Table
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	server := startServer(t, plenty...)
	client := mcpmemory.NewClient(server.ws(), mcpmemory.WithTimeout(5*time.Minute))
	defer client.Close()
	var out bytes.Buffer
	unexpected, err := conformance.Replay(background(t), client, &table, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range unexpected {
		t.Error(line)
	}
	if count := bytes.Count(out.Bytes(), []byte("\n")); count != len(table.Calls)+len(table.Faults) {
		t.Errorf("%d lines", count)
	}
}
