package mcpmemory_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	mcpmemory "github.com/polymnia/polymnia-go"
)

func Example() {
	client := mcpmemory.NewClient("ws://localhost:9080/ws")
	defer client.Close()

	// Store content
	result, err := client.MemoryStore(context.Background(), &mcpmemory.StoreContentRequest{
		Operation: "store_content",
		ProjectID: "my-project",
		Content:   "Important information to remember",
		Tags:      []string{"important", "memory"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Field("content_id"))

	// Search content
	searchResults, err := client.MemoryRetrieve(context.Background(), &mcpmemory.SearchContentRequest{
		Operation: "search_content",
		ProjectID: "my-project",
		Query:     "important information",
		Options:   &mcpmemory.SearchOptions{Limit: 5},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(searchResults)
}

func ExampleError() {
	client := mcpmemory.NewClient("http://localhost:9080/mcp")
	defer client.Close()
	_, err := client.GetContent(context.Background(), &mcpmemory.GetContentRequest{ProjectID: "my-project", ContentID: "x"})
	var invalid *mcpmemory.ValidationError
	switch {
	case errors.Is(err, mcpmemory.ErrNotFound):
		fmt.Println("there is none")
	case errors.As(err, &invalid):
		fmt.Println(invalid.Details["field"], invalid.Suggestions)
	}
}

func ExampleClient_Subscribe() {
	client := mcpmemory.NewClient("stdio", mcpmemory.WithCommand("polymnia", "stdio", "--store", "notes.db"))
	defer client.Close()
	subscription, err := client.SubscribeMemory(context.Background(), "Ann", func(update mcpmemory.Update) {
		fmt.Println("changed:", update.URI)
	})
	if err != nil {
		log.Fatal(err)
	}
	defer subscription.Close(context.Background())
}
