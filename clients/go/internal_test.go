package mcpmemory

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, wanted := range map[string]message{
		`{"jsonrpc":"2.0","id":12,"result":{"a":1}}`:                           {ID: []byte("12"), Result: []byte(`{"a":1}`)},
		"  {\"jsonrpc\":\"2.0\",\"id\":12,\"result\":null}\r\n":                {ID: []byte("12"), Result: []byte(`null`)},
		`{"id":12,"result":{"a":1},"jsonrpc":"2.0"}`:                           {ID: []byte("12"), Result: []byte(`{"a":1}`)},
		`{"jsonrpc":"2.0","id":"12","result":{}}`:                              {ID: []byte(`"12"`), Result: []byte(`{}`)},
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":1}}`: {Method: "notifications/progress", Params: []byte(`{"x":1}`)},
	} {
		read, err := parse([]byte(text))
		if err != nil || string(read.ID) != string(wanted.ID) || string(read.Result) != string(wanted.Result) ||
			read.Method != wanted.Method || string(read.Params) != string(wanted.Params) {
			t.Errorf("%s is read as %+v (%v)", text, read, err)
		}
	}
	for _, text := range []string{"", "x", `{"jsonrpc":"2.0","id":`, "[1]", `"text"`} {
		if read, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, read)
		}
	}
}

func TestEvents(t *testing.T) {
	stream := newEvents(strings.NewReader(
		": still here\n\nid: 1-0\nretry: 1000\ndata: \n\nid: 1-1\r\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nid: 1-2\ndata: cut"))
	data, err := stream.next()
	if err != nil || string(data) != "{\"a\":\n1}" || stream.id != "1-1" {
		t.Errorf("%q, %q, %v", data, stream.id, err)
	}
	if data, err := stream.next(); err != io.EOF || stream.id != "1-1" {
		t.Errorf("an event that is not whole: %q, %q, %v", data, stream.id, err)
	}
}

func TestTimeoutOfAClient(t *testing.T) {
	for given, wanted := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Second: time.Second} {
		_, limit, stop := NewClient("stdio", WithTimeout(given)).bounded(context.Background())
		stop()
		if limit == nil || limit.left != wanted {
			t.Errorf("a timeout of %s: %+v", given, limit)
		}
	}
	if _, limit, _ := NewClient("stdio", WithTimeout(-1)).bounded(context.Background()); limit != nil {
		t.Errorf("a negative timeout: %+v", limit)
	}
}

// TestProcessThatDies kills a server that the client has started, under writes: it is started again and none is lost.
func TestProcessThatDies(t *testing.T) {
	command := strings.Fields(os.Getenv("POLYMNIA"))
	if len(command) == 0 {
		python, _ := filepath.Abs("../../.venv/bin/python")
		if _, err := os.Stat(python); err != nil {
			t.Skip("there is no server: set POLYMNIA to its command, or make ../../.venv")
		}
		command = []string{python, "-m", "polymnia"}
	}
	folder := t.TempDir()
	command = append(command, "stdio", "--store", filepath.Join(folder, "store.db"), "--embedder", "none")
	client := NewClient("stdio", WithCommand(command[0], command[1:]...), WithTimeout(3*time.Minute),
		WithEnvironment("XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder))
	defer client.Close()
	ctx := context.Background()
	var ids sync.Map
	var writers sync.WaitGroup
	for writer := range 4 {
		writers.Add(1)
		go func() {
			defer writers.Done()
			for i := range 25 {
				stored, err := client.StoreContent(ctx, &StoreContentRequest{
					ProjectID: "dies", Content: fmt.Sprintf("Write %d of writer %d", i, writer),
				})
				if err != nil {
					t.Errorf("write %d of %d: %v", i, writer, err)
					return
				}
				ids.Store(stored.Field("content_id"), true)
				if writer == 0 && i%10 == 5 {
					client.mu.Lock()
					conn := client.conn
					client.mu.Unlock()
					if conn != nil {
						conn.(*duplex).pipe.(*process).command.Process.Kill()
					}
				}
			}
		}()
	}
	writers.Wait()
	found, err := client.SearchContent(ctx, &SearchContentRequest{ProjectID: "dies", Query: "Write", Options: &SearchOptions{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	ids.Range(func(any, any) bool { count++; return true })
	if total := fmt.Sprint(found.Field("total")); count != 100 || total != "100" {
		t.Errorf("%d were answered and %s are there", count, total)
	}
}
