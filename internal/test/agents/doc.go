// Package agents plays scripted conversations through the real programs of coding agents, offline: their model is
// a server on the loopback interface that answers from the script. What the program sent is recorded beside the
// sessions that it wrote, and compared by part with what ctxtool replays.
//
// A run: [Bench.Played] installs a version, if it may, and starts the test's own binary for each script, in namespaces
// without a network. That serves all interfaces ([Server]), writes the configuration, starts the program for each step
// ([Script]), and copies what it sent and its store to a folder (record.go). Back in the test, each request is matched
// with an answer in a session (match.go), that point is replayed, and both are compared ([Compare]). Nothing may be
// called exact that is not equal.
//
// Recordings of a program hold its prompts, which are not ours to publish. What is committed is a skeleton of a
// recording ([Skeleton]), which has to compare as the recording does. [Bench.Recorded] compares these in every run of
// the tests, and holds what they show: the dialect's compared rules, and the table of docs/compared.md.
//
// To add an agent: write name.go with an [Agent] (its package, versions, store, environment and arguments); scripts in
// testdata/scripts of its dialect, each with what its author expects to be sent; and a test with a [Bench], whose
// TestMain is [Main]. Then
//
//	make agents AGENT=name ONLY=prompts UNLIKE=messages
//
// plays one script and prints what differs, and with RECORD=1 UPDATE=1 the recordings and tables are written.
package agents
