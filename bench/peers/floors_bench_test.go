package peers

import (
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge3"
	"sigs.k8s.io/yaml"

	"example.com/braid/bench"
	"example.com/braid/merge"
)

var errInvalid = errors.New("not JSON")

func checking(valid func([]byte) bool, texts ...[]byte) (bench.Task, error) {
	return bench.Task{Time: func() error {
		for _, text := range texts {
			if !valid(text) {
				return errInvalid
			}
		}
		return nil
	}}, nil
}

func jsontextValid(text []byte) bool { return jsontext.Value(text).IsValid() }

func jsontextLive(c *bench.Case) (bench.Task, error) { return checking(jsontextValid, c.Live()) }

func jsontextThree(c *bench.Case) (bench.Task, error) {
	return checking(jsontextValid, c.Last(), c.Live(), c.Desired())
}

func encodingJSONLive(c *bench.Case) (bench.Task, error) { return checking(json.Valid, c.Live()) }

func encodingJSONThree(c *bench.Case) (bench.Task, error) {
	return checking(json.Valid, c.Last(), c.Live(), c.Desired())
}

// braidUpdate gives the merged object under the policy of kustomize, from bytes to bytes.
func braidUpdate(c *bench.Case) (bench.Task, error) {
	o, err := c.Options(merge.Strategic)
	if err != nil {
		return bench.Task{}, err
	}
	o.Policy = &merge.Update
	m, err := merge.New(o)
	texts := [...][]byte{c.Last(), c.Live(), c.Desired()}
	return bench.Answer(func() ([]byte, error) {
		var docs [3]*merge.Doc
		for i, text := range texts {
			if docs[i], err = merge.Parse(text); err != nil {
				return nil, err
			}
		}
		r, err := m.ThreeWay(docs[0], docs[1], docs[2])
		if err != nil {
			return nil, err
		}
		doc, err := r.Merged()
		if err != nil {
			return nil, err
		}
		return doc.JSON(), nil
	}, bench.Itself), err
}

// kyamlUpdate reads the same JSON, which is YAML.
func kyamlUpdate(c *bench.Case) (bench.Task, error) {
	last, live, desired := string(c.Last()), string(c.Live()), string(c.Desired())
	return bench.Answer(func() (string, error) { return merge3.MergeStrings(live, last, desired, true) },
		func(text string) ([]byte, error) { return yaml.YAMLToJSON([]byte(text)) }), nil
}
