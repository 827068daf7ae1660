package main

import (
	"errors"
	"strconv"

	"ctxtool/stats"
)

// A tokensFlag is a number of tokens as people write it: 200000, 200k, 1M or 1e6.
type tokensFlag struct{ n *int64 }

func (f tokensFlag) String() string {
	if f.n == nil {
		return "0"
	}
	return strconv.FormatInt(*f.n, 10)
}

func (f tokensFlag) Type() string { return "tokens" }

// mostTokensAsked is more than any window has: 2^53, up to which numbers are whole.
const mostTokensAsked = 1 << 53

func (f tokensFlag) Set(text string) error {
	n, err := stats.ParseNumber(text)
	if err != nil || n < 1 || n > mostTokensAsked || n != float64(int64(n)) {
		return errors.New("want a number of tokens from 1 on, as 200000, 200k or 1M")
	}
	*f.n = int64(n)
	return nil
}

// A countFlag is a number of things, at least one. It is 0 where it was not given.
type countFlag struct{ n *int }

func (f countFlag) String() string {
	if f.n == nil {
		return "0"
	}
	return strconv.Itoa(*f.n)
}

func (f countFlag) Type() string { return "int" }

func (f countFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("want a whole number from 1 on")
	}
	*f.n = n
	return nil
}
