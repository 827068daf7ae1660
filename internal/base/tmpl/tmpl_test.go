package tmpl_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"text/template"

	"ctxtool/internal/base/tmpl"
)

var data = map[string]any{
	"Name": "a<b", "Empty": "", "Number": 7, "Zero": 0, "Texts": []string{"x", "y"}, "None": []string(nil),
	"Inner": map[string]any{"Name": "in"},
}

// TestExecute: templates give what text/template gives.
func TestExecute(t *testing.T) {
	for _, text := range []string{
		"plain {{/* not shown */}} text", "{{.Name}} {{ .Number -}}  {{- .Inner.Name}}{{.}}",
		"{{if .Empty}}a{{else if .Zero}}b{{else}}c{{end}}{{if .Number}}d{{end}}{{if .None}}e{{end}}{{if .Zero}}f{{end}}",
		"{{with .Inner}}{{.Name}} {{$.Name}}{{end}}{{with .Empty}}x{{else}}{{.Number}}{{end}}",
		"{{range .Texts}}<{{.}}>{{end}}{{range .None}}x{{else}}none{{end}}",
		`{{define "a"}}[{{.}}]{{end}}{{template "a" .Name}}{{template "c"}}{{define "c"}}c{{end}}{{block "b" .Inner}}{{.Name}}{{end}}`,
		`{{eq .Number 7}} {{eq .Number 1 7}} {{ne .Name "a<b"}} {{ne .Name "x"}}`,
		`{{and .Name .Number}} {{or .Empty "other"}} {{not .Zero}} {{and .Zero .Name}} {{or .Texts .Zero}}{{not (eq .Zero 0)}}`,
	} {
		var want, got strings.Builder
		if err := template.Must(template.New("it").Parse(text)).Execute(&want, data); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var all tmpl.Templates
		err := all.Parse("it", text)
		if err == nil {
			err = all.Execute(&got, "it", data)
		}
		if err != nil || got.String() != want.String() {
			t.Errorf("%s: %q, %v; want %q", text, got.String(), err, want.String())
		}
	}
}

// TestErrors: what cannot be executed is an error that names the place.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"\n {{.Nme}}":                      "template: it:2:3: no field Nme: .Nme",
		"{{.Name.More}}":                   "template: it:1:7: no field More: .Name.More",
		"{{if .Nme}}{{end}}":               "template: it:1:5: no field Nme: .Nme",
		"{{range .Name}}{{end}}":           "template: it:1:8: not supported: ",
		"{{range .Texts}}{{break}}{{end}}": "template: it:1:18: not supported: {{break}}",
		"{{.Name 1}}":                      "template: it:1:2: not supported: .Name 1",
		"{{1.5}}":                          "template: it:1:2: not supported: 1.5",
		"{{not}}":                          "template: it:1:2: no arguments: not",
		"{{.Name | not}}":                  "template: it:1:2: not supported: .Name | not",
		"{{$x := .Name}}":                  "template: it:1:2: not supported: $x := .Name",
		"{{$.Nme}}":                        "template: it:1:3: no field Nme: $.Nme",
		`{{template "none"}}`:              `template: no template "none"`,
		"{{js .Name}}":                     `template: it:1: function "js" not defined`,
		"{{.Name":                          "template: it:1: unclosed action",
	} {
		var all tmpl.Templates
		err := all.Parse("it", text)
		if err == nil {
			err = all.Execute(&strings.Builder{}, "it", data)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

// TestMethods: no package of the program executes templates that call methods by name, or calls them itself.
func TestMethods(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Imports}}", "ctxtool/cmd/ctxtool").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(pkg, "ctxtool/") && slices.Contains(strings.Fields(strings.Trim(imports, "[]")), "text/template") {
			t.Errorf("%s imports text/template: it keeps the methods of all types, 3.4 MB; use internal/base/tmpl", pkg)
		}
	}
}
