module github.com/polymnia/polymnia-go

go 1.24

require github.com/coder/websocket v1.8.15
