package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// endpointsOf makes an EndpointSlice of n endpoints, an atomic list. Desired says of one
// endpoint that it is not ready.
func endpointsOf(n int) documents {
	build := func(desired bool) object {
		var list []any
		for i := range n {
			ready := !desired || i != n/2
			list = append(list, object{
				"addresses":  []any{fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)},
				"conditions": object{"ready": ready, "serving": ready, "terminating": false},
				"nodeName":   fmt.Sprintf("node-%03d", i%100), "zone": fmt.Sprintf("zone-%d", i%3),
				"targetRef": object{
					"kind": "Pod", "namespace": "bench", "name": fmt.Sprintf("service-7d4b9c-%05d", i),
					"uid": fmt.Sprintf("5c1f2d3e-0000-4000-8000-%012d", i),
				},
			})
		}
		return object{
			"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
			"metadata":    object{"name": "service-abcde", "namespace": "bench", "labels": object{"kubernetes.io/service-name": "service"}},
			"addressType": "IPv4", "endpoints": list,
			"ports": []any{object{"name": "http", "port": 8080, "protocol": "TCP"}},
		}
	}
	return stamped(build)
}

// stamped makes the documents of an object to which a server adds metadata only.
func stamped(build func(desired bool) object) documents {
	server := func(o object) []byte { serverMeta(o, nil); return encode(o) }
	return documents{
		last: encode(build(false)), live: server(build(false)),
		desired: encode(build(true)), merged: server(build(true)),
	}
}

// configOf makes a ConfigMap of files of the given size, and of one short value, which
// desired changes.
func configOf(files, size int) documents {
	line := "some.setting.of.the.service = \"a value with a \\\"quote\\\" in it\"\n"
	return stamped(func(desired bool) object {
		data := object{"level": "info"}
		if desired {
			data["level"] = "debug"
		}
		for f := range files {
			data[fmt.Sprintf("file-%02d.conf", f)] = strings.Repeat(line, size/len(line))
		}
		return config(data)
	})
}

func config(data any) object {
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "service-config", "namespace": "bench"}, "data": data}
}

// shuffledOf makes a ConfigMap of n keys, which stand in another order in each document.
// Desired changes one and drops one, and live has one more.
func shuffledOf(n int) documents {
	data := func(order uint64, desired, live bool) rawMap {
		var m rawMap
		for _, i := range rand.New(rand.NewPCG(order, 0)).Perm(n) {
			value := fmt.Sprintf("value %d", i)
			switch {
			case desired && i == n/2:
				value = "another value"
			case desired && i == n/2+1:
				continue
			}
			m = append(m, [2]string{fmt.Sprintf("key-%06d", i), value})
		}
		if live {
			m = append(m, [2]string{"added", "by another"})
		}
		return m
	}
	server := func(m rawMap) []byte {
		o := config(m)
		serverMeta(o, nil)
		return encode(o)
	}
	return documents{
		last: encode(config(data(1, false, false))), live: server(data(2, false, true)),
		desired: encode(config(data(3, true, false))), merged: server(data(2, true, true)),
	}
}

// rawMap is a map whose keys keep their order in JSON. They need no escapes.
type rawMap [][2]string

// MarshalJSON writes the entries as they stand.
func (m rawMap) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, e := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:%q", e[0], e[1])
	}
	return append(out, '}'), nil
}
