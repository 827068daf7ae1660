package agents

import "strings"

// Kilo is Kilo CLI, a fork of opencode.
var Kilo = openCode(Agent{
	Name: "kilo", Package: "@kilocode/cli-linux-x64", Binary: "node_modules/@kilocode/cli-linux-x64/bin/kilo",
	Versions: strings.Fields("7.0.33 7.7.7 7.7.9"), Common: openCodeCommon,
})
