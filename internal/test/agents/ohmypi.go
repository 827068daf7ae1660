package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ctxtool/internal/test/must"
)

const ohMyPiBinary = "node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js"

// OhMyPi is oh-my-pi, likewise.
var OhMyPi = &Agent{
	Name: "oh-my-pi", Package: "@oh-my-pi/pi-coding-agent", Binary: ohMyPiBinary,
	Runtime: bun, Fetch: fetchOhMyPi,
	Versions: strings.Fields("17.3.5 18.2.3 18.3.4"),
	Common:   strings.Fields("prompts soft tree models aborts errors"),
	Store:    []string{".omp/agent/sessions"},
	Begin:    func(p *Player) error { return piBegin(p, ".omp/agent", piKit) },
	Env:      func(*Player) []string { return piEnv() },
	Args: func(p *Player, s *Step) (args []string) {
		id := or(s.At, p.sessions[s.From])
		switch {
		case s.Continue:
			args = append(args, "--continue")
		case id != "":
			args = append(args, "--resume", id)
		}
		return piModel(p, s, args)
	},
	Print: []string{"-p"}, InArgs: true,
	Serve: piServe,
	Frames: append(slices.Clone(piFrames), "Today: ", "Branch-return summary:",
		"Prior model work/tool state available.",
		"MUST build on prior work; NEVER duplicate prior work.",
		"Context replaced. The <handoff> below is a handoff document a prior instance of you wrote from the full "+
			"conversation. It is your own working memory, not user input.",
		"- First person inside it refers to you (the prior instance).",
		"- \"Next Steps\" is your own resumed plan; re-check it against the latest user message before acting.",
		"- The handoff already exists and is complete: NEVER write another handoff document unless the user "+
			"explicitly asks."),
	Native: messagesForm,
	Clean:  cleanOhMyPi,
}

var bun = &Agent{Name: "bun", Package: "@oven/bun-linux-x64", Binary: "node_modules/@oven/bun-linux-x64/bin/bun",
	Versions: []string{"1.4.4"}}

// fetchOhMyPi unpacks what the program needs of its packages: with all, a version takes 1.3 GB, and npm does not
// install 18.3.4, one of whose packages it lacks. Functions of the system that an older package lacks are undefined.
func fetchOhMyPi(dir, version string) error {
	natives := version
	if out, err := exec.Command("npm", "view", "--silent", "@oh-my-pi/pi-natives-linux-x64@"+version,
		"version").Output(); err != nil || len(out) == 0 {
		natives = "18.2.3"
	}
	for name, v := range map[string]string{"@oh-my-pi/pi-coding-agent": version, "@oh-my-pi/pi-natives": natives,
		"@oh-my-pi/pi-natives-linux-x64": natives, "@babel/parser": "7.29.7"} {
		to := filepath.Join(dir, "node_modules", name)
		must.Do(os.MkdirAll(to, 0o755))
		unpack := fmt.Sprintf("npm pack --silent %s@%s && tar -xzf *.tgz --strip-components=1 && rm *.tgz", name, v)
		cmd := exec.Command("sh", "-ec", unpack)
		cmd.Dir = to
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s@%s: %w: %s", name, v, err, said)
		}
	}
	program := string(must.Get(os.ReadFile(filepath.Join(dir, ohMyPiBinary))))
	index := filepath.Join(dir, "node_modules/@oh-my-pi/pi-natives/native/index.js")
	has := string(must.Get(os.ReadFile(index)))
	var lacks []string
	for _, imported := range nativeImports.FindAllStringSubmatch(program, -1) {
		for one := range strings.SplitSeq(imported[1], ",") {
			name := strings.Fields(one)[0]
			if !strings.Contains(has, " "+name+" ") && !slices.Contains(lacks, name) {
				lacks = append(lacks, name)
			}
		}
	}
	for _, name := range lacks {
		has += "\nexport const " + name + " = {};"
	}
	return os.WriteFile(index, []byte(has+"\n"), 0o644)
}

var nativeImports = regexp.MustCompile(`import\s*\{([^}]*)\}\s*from\s*"@oh-my-pi/pi-natives"`)

// What the program adds when it asks: before a prompt, in no file and with the date of the machine; and thoughts of
// another model as a text.
var (
	reminder = regexp.MustCompile(`(?s)^<system-reminder>\nToday: .*?</system-reminder>(\n\n)?`)
	thoughts = regexp.MustCompile("(?s)^(<think>\n.*?\n</think>|```thinking\n.*?\n```)\n?")
)

// cleanOhMyPi leaves of a body what is compared: the texts and pictures of messages, calls and results, in their order.
// How each interface gets thoughts and ids, pi's forms do not write as the program does.
func cleanOhMyPi(form string, body object) (summary bool) {
	if list(body, forms[form].list) == nil {
		return false
	}
	var all []any
	for _, t := range forms[form].blocks(body) {
		if isSystem(object{"role": t.role}) {
			continue
		}
		var blocks []any
		for _, b := range t.blocks {
			if b := plainBlock(Unmarked(b).(object)); b != nil {
				blocks = append(blocks, b)
			}
		}
		if t.role == "toolResult" {
			t.role, blocks = "user", []any{object{"type": "tool_result", "content": blocks}}
		}
		if last := len(all) - 1; last >= 0 && all[last].(object)["role"] == t.role {
			blocks = append(all[last].(object)["content"].([]any), blocks...)
			all = all[:last]
		}
		if len(blocks) > 0 {
			all = append(all, object{"role": t.role, "content": blocks})
		}
	}
	delete(body, forms[form].list)
	body["messages"] = all
	return false
}

// plainBlock returns what is compared of a block, nil for nothing.
func plainBlock(b object) any {
	switch b["type"] {
	case "text":
		text := thoughts.ReplaceAllString(reminder.ReplaceAllString(word(b, "text"), ""), "")
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return object{"type": "text", "text": text}
	case "tool_use":
		return object{"type": "tool_use", "name": b["name"], "input": b["input"]}
	case "toolCall":
		return object{"type": "tool_use", "name": b["name"], "input": b["arguments"]}
	case "image":
		source, _ := b["source"].(object)
		return object{"type": "image", "data": or(word(b, "data"), word(source, "data"))}
	case "tool_result":
		content := b["content"]
		if response, ok := content.(object); ok {
			content = or(word(response, "output"), word(response, "error"))
		}
		var inside []any
		for _, one := range asBlocks(content).([]any) {
			if one := plainBlock(one.(object)); one != nil {
				inside = append(inside, one)
			}
		}
		return object{"type": "tool_result", "content": inside}
	}
	return nil
}
