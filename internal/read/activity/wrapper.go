package activity

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// finders are programs that fail if they do not find what they look for.
const finders = "ls cat head tail grep rg egrep fgrep find fd which test [ diff stat"

// harmless are other programs that only inspect, and what shells do themselves without an effect on
// files.
const harmless = "wc cd pwd echo printf type file sort uniq cut tr awk tree less more du df ps date whoami jq " +
	"basename dirname realpath readlink sleep true false : export declare local readonly " +
	"typeset set unset shift read exit return break continue trap wait command env xargs time hash alias " +
	"unalias umask ulimit getopts shopt pushd popd dirs jobs for foreach in case esac function fi done param"

// chores are further programs that are not worth reporting.
const chores = "sed tee mkdir touch chmod ln cp mv rm mktemp kill pkill source . eval exec builtin " +
	"sudo nohup npx timeout"

// cmdlets are the verbs of PowerShell's commands that are chores.
const cmdlets = "Get Set Select Where ForEach Sort Format Measure Test Write Out Join Split New Remove Copy Move"

// isOneOf reports whether a word is in a list of words.
func isOneOf(word, list string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// isChore reports whether a program is not worth reporting.
func isChore(program string) bool {
	verb, _, cmdlet := strings.Cut(program, "-")
	return isOneOf(program, finders) || isOneOf(program, harmless) || isOneOf(program, chores) ||
		cmdlet && isOneOf(verb, cmdlets)
}

// A wrapper is a program that runs a command in its arguments: after its options, which end at --, and
// its operands.
type wrapper struct {
	verbs    string // one of these words comes first, after the program's own options
	values   string // options whose value is the next word
	operands int    // onlyScript if it runs nothing but scripts
	script   string // the option that makes the next operand a script
	joins    bool   // the words of the command are joined to a script
}

const onlyScript = -1

var wrappers = map[string]wrapper{
	"sudo": {values: "-u -g -h -p -C -D -R -T -r -t -U --user --group --host --prompt --chdir"},
	"doas": {values: "-u -C"}, "su": {operands: 1, script: "-c"}, "runuser": {values: "-u -g -G", script: "-c"},
	"env": {values: "-u -C --unset --chdir", script: "-S"}, "cross-env": {}, "dotenv": {values: "-e -f -v"},
	"time": {values: "-f -o"}, "nohup": {}, "setsid": {}, "caffeinate": {}, "unbuffer": {}, "busybox": {},
	"nice": {values: "-n --adjustment"}, "ionice": {values: "-c -n"}, "chrt": {operands: 1}, "taskset": {operands: 1},
	"stdbuf": {values: "-i -o -e"}, "strace": {values: "-e -o -s -p"}, "xvfb-run": {values: "-e -f -n -p -s -w"},
	"exec": {values: "-a"}, "builtin": {}, "command": {values: "-v -V"}, "eval": {joins: true}, "watch": {values: "-n"},
	"timeout": {values: "-k -s --kill-after --signal", operands: 1},
	"flock":   {values: "-w -E", operands: 1, script: "-c"}, "chroot": {operands: 1},
	"xargs": {values: "-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file"},
	"npx":   {values: "-p --package", script: "-c"}, "bunx": {}, "uvx": {values: "--from --with -p --python"},
	"ssh": {values: "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", operands: 1, joins: true},
	"docker": {verbs: "exec", values: "-e -u -w --env --env-file --user --workdir --detach-keys --index",
		operands: 1},
	"kubectl": {verbs: "exec", values: "-n -c -f --namespace --container --filename --context", operands: 1},
	"find":    {verbs: "-exec -execdir -ok -okdir"}, "fd": {verbs: "-x -X --exec --exec-batch"},
	"bash":       {values: "-o -O --rcfile --init-file", operands: onlyScript, script: "-c"},
	"powershell": {values: "-executionpolicy -workingdirectory", operands: onlyScript, script: "-command", joins: true},
	"cmd":        {operands: onlyScript, script: "/c", joins: true}, "wsl": {values: "-d -u"},
}

// aliases are programs with the arguments of another one.
var aliases = map[string]string{
	"sh": "bash", "zsh": "bash", "dash": "bash", "ksh": "bash", "ash": "bash", "pwsh": "powershell",
	"podman": "docker", "nerdctl": "docker", "docker-compose": "docker", "oc": "kubectl", "gtimeout": "timeout",
}

// unwrap returns the command, or the script, that a program runs in its arguments; neither if it
// runs none.
func unwrap(words []string) (command []string, script string) {
	program := strings.ToLower(strings.TrimSuffix(base(words[0]), ".exe"))
	w, ok := wrappers[cmp.Or(aliases[program], program)]
	args := words[1:]
	if !ok {
		return nil, ""
	}
	if w.verbs != "" {
		at := slices.IndexFunc(args, func(arg string) bool { return isOneOf(arg, w.verbs) })
		if at < 0 {
			return nil, ""
		}
		args = args[at+1:]
	}
	for n := 0; ; n++ {
		var takes bool
		args, takes = w.skip(args)
		switch {
		case len(args) == 0 || n > w.operands && !takes:
			return nil, ""
		case takes && !w.joins:
			return nil, args[0]
		case takes || n == w.operands && w.joins:
			return nil, strings.Join(args, " ")
		case n == w.operands:
			return args, ""
		}
		args = args[1:]
	}
}

// skip leaves out options with their values, up to --. It reports whether an option
// makes the next word a script.
func (w *wrapper) skip(args []string) (rest []string, takes bool) {
	for len(args) > 0 && w.isOption(args[0]) {
		option, letters := args[0], ""
		args = args[1:]
		if option == "--" {
			break
		}
		if option[0] == '-' && len(option) > 1 && option[1] != '-' {
			letters = option[1:]
		}
		switch {
		case strings.EqualFold(option, w.script), len(w.script) == len("-c") && strings.Contains(letters, w.script[1:]):
			takes = true
		case len(args) > 0 && (isOneOf(option, w.values) || isOneOf(strings.ToLower(option), w.values)):
			args = args[1:]
			continue
		}
		if len(letters) > 1 && len(args) > 0 && isOneOf("-"+letters[len(letters)-1:], w.values) {
			args = args[1:] // -euo pipefail
		}
	}
	return args, takes
}

func (w *wrapper) isOption(arg string) bool {
	return strings.HasPrefix(arg, "-") || strings.HasPrefix(w.script, "/") && strings.HasPrefix(arg, "/")
}

// isAssignment reports whether a word assigns a variable.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, nameBytes) == ""
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// base returns the name of a program without its folders.
func base(program string) string { return program[strings.LastIndexAny(program, `/\`)+1:] }

// significant returns a command as the program and up to two words after it, empty if it is not
// worth reporting.
func significant(words []string) string {
	program := words[0]
	if !isProgram(program) {
		program = base(program) // $(npm bin)/eslint, "C:\Program Files\x.exe"
	}
	if isChore(base(program)) || !isProgram(program) {
		return ""
	}
	if len(words) > 2 && words[1] == "-m" && strings.HasPrefix(base(program), "py") && isName(words[2]) {
		return program + " -m " + words[2]
	}
	n := 1
	for n < min(len(words), 3) && isName(words[n]) && !strings.Contains(words[n], "/") {
		n++
	}
	return strings.Join(append([]string{program}, words[1:n]...), " ")
}

// isProgram reports whether a word is a name, which may begin with a variable's.
func isProgram(word string) bool {
	variable, ok := strings.CutPrefix(word, "$")
	return isName(variable) && (!ok || unicode.IsLetter(rune(variable[0])) || variable[0] == '_')
}

// isName reports whether a word is neither a flag nor needs quoting.
func isName(w string) bool {
	return w != "" && len(w) <= 80 && w[0] != '-' && !strings.ContainsAny(w, "\"'`$\\<>(){}*?!#=,;") &&
		!strings.ContainsFunc(w, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}
