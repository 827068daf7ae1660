package hook_test

import (
	"bytes"
	"testing"

	"ctxtool/internal/read/ops"
	"ctxtool/replay/hook"
)

// FuzzRead: whatever a hook returns is read as patches on one line each, or is an error.
func FuzzRead(f *testing.F) {
	for _, o := range ops.All {
		f.Add([]byte(o.Example))
		f.Add([]byte("[" + o.Example + "]"))
		f.Add([]byte(`{"patch": [` + o.Example + `],` + "\n" + ` "transformerName":"t","display":{"title":"T"}}`))
	}
	f.Add([]byte("null\n{}\n\n[]\n5"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := hook.Read("r", data)
		for _, r := range all {
			if err != nil || !r.Patch.IsArray() || bytes.ContainsAny(r.Patch, "\n\r") {
				t.Fatalf("%v: %q", err, r.Patch)
			}
		}
		for _, v := range hook.Judge(hook.BeforeRequest, all) {
			if v.Ruling != hook.Apply && v.Text == "" {
				t.Fatalf("%+v", v)
			}
		}
	})
}
