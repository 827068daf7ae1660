package labelled

import (
	_ "embed"

	"github.com/pelletier/go-toml/v2"
)

//go:embed patterns.toml
var patternFile []byte

// A pattern is a name and a form.
type pattern [2]string

func (p pattern) name() string { return p[0] }
func (p pattern) form() string { return p[1] }

// patterns are those of patterns.toml.
var patterns = func() (file struct {
	Prefixed, Named, Stored, Passwords, Keys []pattern
	TokenShapes                              []pattern `toml:"token-shapes"`
	KnownShapes                              []pattern `toml:"known-shapes"`
	PasswordShapes                           []pattern `toml:"password-shapes"`
	Before, After                            []string
	Joints, Places                           []pattern
	SeedWords                                []string `toml:"seed-words"`
	Words                                    []string
	Harmless                                 []plain
}) {
	if err := toml.Unmarshal(patternFile, &file); err != nil {
		panic(err) // it is embedded
	}
	return file
}()

// A plain is a kind of harmless text.
type plain struct {
	Kind  string
	Forms []string
}
