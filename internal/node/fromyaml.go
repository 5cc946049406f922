package node

import "sigs.k8s.io/yaml"

// ParseYAML reads one YAML or JSON document.
func ParseYAML(text []byte, lim Limits) (*Tree, error) {
	j, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, &Error{Offset: -1, Rule: ErrYAML, Detail: err.Error()}
	}
	return Parse(j, lim)
}
