package activity

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestScripts: which commands a line runs, and which of them failed if the line did. The first
// half was written before the reader, the second half after it.
func TestScripts(t *testing.T) {
	for _, test := range []struct{ line, commands, failed string }{
		{"cd /w && go test ./... 2>&1 | tail -50", "go test", "go test"},
		{"FOO=1 sudo npm run build; ls -la", "npm run build", "npm run build"},
		{"git commit -m 'a; b && c' && git push origin main", "git commit|git push origin", "git push origin"},
		{"cat <<EOF > x\nrm -rf /\nEOF", "", ""},
		{"make <<E\nE", "make", "make"},
		{"x <<", "x", "x"},
		{"# only a comment\nmake # all", "make", "make"},
		{`echo "a | make" \| make`, "", ""},
		{"timeout 20 npx jest && npx jest", "jest", "jest"},
		{"go vet\r\ngo test\r\n", "go vet|go test", "go test"},
		{"make\u2028all", "", ""},
		{"", "", ""},

		{`if ! npm test; then echo "tests failed"; exit 1; fi`, "npm test", "npm test"},
		{`for d in api web; do (cd $d && npm run build) || exit 1; done`, "npm run build", "npm run build"},
		{`(cd web && yarn install && yarn build)`, "yarn install|yarn build", "yarn build"},
		{`{ make lint; make test; } 2>&1 | tee log.txt`, "make lint|make test", "make test"},
		{"cat > a.py <<'EOF'\nimport os\nos.system('rm -rf x; make bad')\nEOF\npython a.py", "python a.py", "python a.py"},
		{"python - <<'EOF'\nprint(1)\nEOF", "python", "python"},
		{`bash -c "cargo test && cargo clippy"`, "cargo test|cargo clippy", "cargo clippy"},
		{`! git diff --quiet`, "git diff", "git diff"},
		{`sudo -u postgres psql -c 'select 1'`, "psql", "psql"},
		{`env -u HOME CI=1 pytest -q`, "pytest", "pytest"},
		{`timeout -k 5 120 go test ./...`, "go test", "go test"},
		{`git ls-files '*.sh' | xargs -n1 shellcheck`, "git ls-files|shellcheck", "shellcheck"},
		{`time -p make all`, "make all", "make all"},
		{`nohup node server.js > out.log 2>&1 &`, "node server.js", "node server.js"},
		{`NODE_ENV=test npx jest --ci`, "jest", "jest"},
		{`go build ./... && go vet ./... || echo bad`, "go build|go vet", "go vet"},
		{`docker exec -it -e A=1 web sh -c 'php artisan migrate --force'`, "php artisan migrate", "php artisan migrate"},
		{`check() { tsc --noEmit; }; check`, "tsc", "tsc"},
		{`set -euo pipefail; terraform fmt; terraform plan -out x`, "terraform fmt|terraform plan", "terraform plan"},
		{`while read -r f; do eslint "$f"; done < files.txt`, "eslint", "eslint"},
		{`case "$1" in test) npm test;; *) npm start;; esac`, "npm test|npm start", "npm start"},
		{`OUT=$(kubectl get pods -o json) && echo "$OUT" | jq .items`, "kubectl get pods", "kubectl get pods"},
		{`find . -name '*.go' -exec gofmt -l {} +`, "gofmt", "gofmt"},
		{`ssh -p 22 user@host 'systemctl restart nginx'`, "systemctl restart nginx", "systemctl restart nginx"},
		{`[[ -f go.mod ]] && go mod tidy`, "go mod tidy", "go mod tidy"},
		{`until curl -sf localhost:8080/health; do sleep 1; done`, "curl", "curl"},
		{`Get-ChildItem -Recurse | ForEach-Object { dotnet test $_.FullName }`, "dotnet test", "dotnet test"},
		{`if (Test-Path dist) { npm run build } else { Write-Host "none" }`, "npm run build", "npm run build"},
		{`echo "unclosed && make test`, "make test", "make test"},
		{`git commit -m "it's" && git push'`, "git commit|git push", "git push"},

		{`sudo docker compose -f a.yml exec -T db sh -ec 'pg_dump app | gzip > /tmp/a.gz'`, "pg_dump app|gzip", "gzip"},
		{`bash -lc 'nvm use 20; bash -c "npm run e2e"'`, "nvm use 20|npm run e2e", "npm run e2e"},
		{`if mvn -q verify; then echo ok; else mvn dependency:tree; fi`, "mvn|mvn dependency:tree", "mvn dependency:tree"},
		{`cd /app && \
  RAILS_ENV=test bundle exec rspec spec/models \
  | tail -5`, "bundle exec rspec", "bundle exec rspec"},
		{`rm -rf out; mkdir out; cmake -S . -B out || { echo "cmake failed"; exit 2; }`, "cmake", "cmake"},
		{`cat <<EOF | kubectl apply -f -
kind: Pod
EOF`, "kubectl apply", "kubectl apply"},
		{"psql app <<'SQL'\nselect 1; drop table x;\nSQL\nalembic upgrade head", "psql app|alembic upgrade head", "alembic upgrade head"},
		{`/usr/bin/time -v ./bench --n 5`, "./bench", "./bench"},
		{`nice -n 10 ionice -c 3 make -j4`, "make", "make"},
		{`find . -name '*.sh' -print0 | xargs -0 -I {} bash -c 'shfmt -d {} || exit 255'`, "shfmt", "shfmt"},
		{`timeout --signal=KILL 30s env FOO=bar python3 -m unittest -v`, "python3 -m unittest", "python3 -m unittest"},
		{`eval "$(ssh-agent -s)" && ssh-add key`, "ssh-agent|ssh-add key", "ssh-add key"},
		{`diff <(sort a) <(go list ./...)`, "go list", ""},
		{`kubectl exec -n prod api-0 -c app -- rails runner 'puts 1'`, "rails runner", "rails runner"},
		{`function deploy { helm upgrade api ./chart; }; for e in a b; do deploy $e; done`, "helm upgrade api", "helm upgrade api"},
		{`test -f go.mod && (go generate ./... & wait)`, "go generate", "go generate"},
		{`export PATH=$PATH:/opt/x; export V=$(git describe --tags); "$GOROOT/bin/go" test ./...`,
			"git describe|$GOROOT/bin/go test", "$GOROOT/bin/go test"},
		{`for ((i=0;i<3;i++)); do npx playwright test && break; done`, "playwright test", "playwright test"},
		{`powershell.exe -NoProfile -Command "dotnet build; dotnet test"`, "dotnet build|dotnet test", "dotnet test"},
		{`cmd /c "gradlew.bat build"`, "gradlew.bat build", "gradlew.bat build"},
		{`& "C:\Program Files\nodejs\npm.cmd" run build`, "npm.cmd run build", "npm.cmd run build"},
		{`foreach ($p in $projects) { dotnet pack $p }; if ($LASTEXITCODE -ne 0) { exit 1 }`, "dotnet pack", "dotnet pack"},
		{"git add -A\ngit commit -m 'fix: don't lose'\ngit push", "git add|git commit|git push", "git push"},
		{`tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT; git clone --depth 1 x "$tmp"`, "git clone", "git clone"},
		{`while ! nc -z localhost 5432; do sleep 1; done; python manage.py migrate`, "nc|python manage.py migrate", "python manage.py migrate"},
		{`coproc uvicorn app:api; curl -s localhost`, "uvicorn app:api|curl", "curl"},
		{`select x in a b; do rake $x; done`, "rake", "rake"},
		{`bash -c 'V=$(go env GOPATH) && ls "$V"'`, "go env GOPATH", "go env GOPATH"},
		{`gh pr create --title "$(git log -1)"`, "gh pr create", "gh pr create"},
		{`! (flake8 src | grep -q E501)`, "flake8 src", "flake8 src"},
		{`echo start && ruff check . ; mypy . ; true`, "ruff check .|mypy .", "mypy ."},
		{`su - postgres -c "createdb app" && flock /tmp/l -c 'rsync -a a b'`, "createdb app|rsync", "rsync"},
	} {
		s := ReadScript(test.line)
		if got := strings.Join(s.Commands, "|"); got != test.commands {
			t.Errorf("%q: %q, want %q", test.line, got, test.commands)
		}
		if got := s.Failed(""); got != test.failed {
			t.Errorf("%q: %q failed, want %q", test.line, got, test.failed)
		}
	}
}

// TestFailed: the line about an error says which of the commands failed that may have.
func TestFailed(t *testing.T) {
	for _, test := range []struct{ line, said, failed string }{
		{"npm run lint && npm test", "npm ERR! Lifecycle script `lint` failed with error:", "npm run lint"},
		{"npm run lint && npm test", "npm ERR! Test failed.  See above for more details.", "npm test"},
		{"make lint && npm test", "make: *** [Makefile:3: lint] Error 1", "make lint"},
		{"make lint; npm test", "make: *** [Makefile:3: lint] Error 1", "npm test"}, // the status is that of the last one
		{"set -e; make lint; npm test", "make: *** [Makefile:3: lint] Error 1", "make lint"},
		{"mise run lint:a && mise run lint:b", "[lint:a] ERROR task failed", "mise run lint:a"},
		{"go vet ./... && /opt/x/jest", "bash: line 1: /opt/x/jest: No such file or directory", "/opt/x/jest"},
		{"if go vet; then tsc; else jest; fi", "tsc: command not found", "tsc"},
		{"ls missing", "ls: cannot access 'missing'", ""},
	} {
		s := ReadScript(test.line)
		if got := s.Failed(test.said); got != test.failed {
			t.Errorf("%q: %q failed, want %q", test.line, got, test.failed)
		}
	}
}

// TestLooks: which lines only look for something.
func TestLooks(t *testing.T) {
	for line, want := range map[string]bool{
		"cd a && grep b": true, "ls": true, "cd a && make": false, "make && grep b": false, "cd a": false, "[ -e x ]": true,
		"if grep -q x a; then echo yes; fi": true, "for f in *; do rm $f; done": false, "(cd a; rg x) | head": true,
		"find . -exec rm {} +": false, "sudo ls /root": true, "grep x y | xargs sed -i s/x/y/": false, "": false,
	} {
		if got := ReadScript(line).Looks; got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// TestHostileScripts: the parser's stack and the time are limited, and what a broken script begins
// with is found.
func TestHostileScripts(t *testing.T) {
	for _, part := range []string{"(", "{ ", "$(", "if ", "`", "${a:-", "$((", "((", "((-", "${a[", "[[ ( ", "a|", "a&&", "cat <<A\n", "sudo ",
		"eval ", "find -exec ", "f() ", "f() { f; }; f;", "bash -c ", `bash -c "`, "a=(", "\\", "'", "\"", "case a in a) ", "! ", "<("} {
		if s := ReadScript("make all\n" + strings.Repeat(part, 40_000/len(part))); len(s.Commands) == 0 || s.Commands[0] != "make all" {
			t.Errorf("%q: %q", part, s.Commands[:min(len(s.Commands), 3)])
		}
	}
	twice := "f0() { make; }\n" // each function calls the one before it twice
	for i := range 60 {
		twice += fmt.Sprintf("f%d() { f%d; f%d; }\n", i+1, i, i)
	}
	if got := ReadScript(twice + "f60").Commands; !slices.Equal(got, []string{"make"}) {
		t.Errorf("%q", got)
	}
}

// TestCutDocuments: the texts of here-documents are left out, what follows them is not.
func TestCutDocuments(t *testing.T) {
	for _, test := range []struct{ command, want string }{
		{"ls", "ls"},
		{"cat >a <<'EOF'\none\ntwo\nEOF\nmake", "cat >a <<'EOF'\n...\nEOF\nmake"},
		{"cat <<-\\END && ls\n\tone\n\tEND", "cat <<-\\END && ls\n...\n\tEND"},
		{"git commit -m \"$(cat <<EOF\ntitle\n\nbody\nEOF\n)\"", "git commit -m \"$(cat <<EOF\n...\nEOF\n)\""},
		{"cat <<A <<\"B\"\n1\nA\n2\nB\nls", "cat <<A <<\"B\"\n...\nA\n...\nB\nls"},
		{"cat <<A\nA\nls", "cat <<A\nA\nls"},
		{"cat <<A\none", "cat <<A\none"},
		{"echo $((1<<n))\nn=1", "echo $((1<<n))\nn=1"},
		{"cat <<A\nsee <<B\nA\nB\nls", "cat <<A\n...\nA\nB\nls"},
	} {
		if got := CutDocuments(test.command); got != test.want {
			t.Errorf("%q: %q, want %q", test.command, got, test.want)
		}
	}
	long := strings.Repeat("cat <<A\n", 10_000) // in linear time
	if got := CutDocuments(long + "A"); got != "cat <<A\n...\nA" {
		t.Errorf("%d bytes", len(got))
	}
}

// FuzzScript: no text ends the program, and documents are only cut.
func FuzzScript(f *testing.F) {
	for _, line := range []string{
		"if ! a; then b; fi <<E\nx\nE\n", "a && b | c || { d; }", "bash -c 'x $(y)'", "f() { a; }; f", "case $x in a) b;; esac", "() `a`",
		"for ((i=0;i<2;i++)); do x; done", "[[ a =~ (b|c) ]] && $((1+2)) ${a//b/c} ${x[@]:1:2}", "cat <<-'A' <<B\n\tq\nA\nr\nB\n",
		"a=(1 2); declare -A x=([a]=b); let x++; coproc y { z; }", "@(a|b) {a,b} <(x) >(y) $'a' $\"b\" `c`", "if (a) { b 'c' } else",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s := ReadScript(line)
		if got := s.Failed(line); got != "" && !slices.Contains(s.Commands, got) {
			t.Errorf("%q failed, which does not run", got)
		}
		if cut := CutDocuments(line); len(cut) > len(line)+4*strings.Count(line, "<<") {
			t.Errorf("%q", cut)
		}
	})
}
