// Command gen writes builtin.bin, the table of built-in kinds, from the OpenAPI v3
// documents of the module k8s.io/kubernetes.
//
//	go generate ./internal/schema
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"

	"example.com/braid/internal/schema"
)

// Module is where the documents are.
const (
	Module  = "k8s.io/kubernetes"
	Version = "v1.37.2"
)

func main() {
	log.SetFlags(0)
	src := flag.String("src", "", "the folder api/openapi-spec/v3 of "+Module+"; by default it is taken from the module cache")
	out := flag.String("out", "builtin.bin", "the file to write")
	flag.Parse()
	table, err := generate(*src)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, table, 0o644); err != nil {
		log.Fatal(err)
	}
}

// generate returns the table. An empty folder stands for the module's.
func generate(folder string) ([]byte, error) {
	if folder == "" {
		var err error
		if folder, err = Folder(); err != nil {
			return nil, err
		}
	}
	document, err := combine(folder)
	if err != nil {
		return nil, err
	}
	api, err := schema.ReadOpenAPI(document)
	if err != nil {
		return nil, err
	}
	if err := zeros(api); err != nil {
		return nil, err
	}
	return schema.EncodeTable(Version, api), nil
}

// Folder returns the folder of the documents, downloading the module if need be.
func Folder() (string, error) {
	temp, err := os.MkdirTemp("", "gen")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	cmd := exec.Command("go", "mod", "download", "-json", Module+"@"+Version)
	cmd.Dir = temp
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	text, err := cmd.Output()
	var info struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(text, &info); jsonErr != nil || info.Dir == "" {
		return "", fmt.Errorf("module %s@%s: %v %s", Module, Version, err, info.Error)
	}
	return filepath.Join(info.Dir, "api", "openapi-spec", "v3"), nil
}

// combine makes one document of those of all groups and versions. A component that
// several have is the same in all, but for the kinds it stands for: each document
// names those of its own group.
func combine(folder string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(folder, "api*__*_openapi.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no OpenAPI documents in %s", folder)
	}
	all := map[string]map[string]any{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var one struct {
			Components struct {
				Schemas map[string]map[string]any `json:"schemas"`
			} `json:"components"`
		}
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		for name, s := range one.Components.Schemas {
			if err := add(all, name, s); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
			}
		}
	}
	return json.Marshal(map[string]any{"components": map[string]any{"schemas": all}})
}

func add(all map[string]map[string]any, name string, s map[string]any) error {
	const key = "x-kubernetes-group-version-kind"
	old, ok := all[name]
	if !ok {
		all[name] = s
		return nil
	}
	kinds, _ := old[key].([]any)
	more, _ := s[key].([]any)
	delete(old, key)
	delete(s, key)
	if !reflect.DeepEqual(old, s) {
		return fmt.Errorf("component %s differs from that of another document", name)
	}
	if kinds = append(kinds, more...); len(kinds) > 0 {
		old[key] = kinds
	}
	return nil
}
