package mcpmemory_test

import (
	"errors"
	"strings"
	"testing"

	mcpmemory "github.com/polymnia/polymnia-go"
)

func TestAnswersHaveEveryField(t *testing.T) {
	client := newClient(t, "ws")
	ctx, project := background(t), project(t)
	stored, err := client.StoreContent(ctx, &mcpmemory.StoreContentRequest{
		ProjectID: project, Content: "# Ports\n\nThe gateway listens on port 9090.", ContentType: "text/markdown",
		Tags: []string{"network"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if stored.ContentID == "" || stored.Version != 1 || stored.CreatedAt == "" {
		t.Errorf("stored: %+v", stored)
	}
	found, err := client.SearchContent(ctx, &mcpmemory.SearchContentRequest{
		ProjectID: project, Query: "gateway port", QueryType: mcpmemory.QueryTypeKeyword,
		Options: &mcpmemory.SearchOptions{SortBy: mcpmemory.SortByDate},
	})
	if err != nil {
		t.Fatal(err)
	}
	if found.Total != 1 || found.Results[0].Content.ContentID != stored.ContentID || found.Results[0].Relevance <= 0 {
		t.Errorf("found: %+v", found)
	}
	if tags := found.Facets.Tags; len(tags) != 1 || tags[0].Value != "network" || tags[0].Count != 1 {
		t.Errorf("tags: %+v", tags)
	}
	health, err := client.CheckSystemHealth(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if health.Health.Components["database"].Status != mcpmemory.HealthStatusHealthy {
		t.Errorf("health: %+v", health.Health)
	}
}

func TestUnsetParametersAreMissing(t *testing.T) {
	client := newClient(t, "ws")
	_, err := client.StoreContent(background(t), &mcpmemory.StoreContentRequest{Content: "x"})
	if !errors.Is(err, mcpmemory.ErrValidation) || !strings.Contains(err.Error(), "project_id") ||
		!strings.Contains(err.Error(), "required") {
		t.Errorf("without a project: %v", err)
	}
}
