module example.com/braid/bench/peers

go 1.26.0

require (
	example.com/braid v0.0.0
	github.com/evanphx/json-patch/v5 v5.9.11
)

require go.yaml.in/yaml/v3 v3.0.4 // indirect

replace example.com/braid => ../..
