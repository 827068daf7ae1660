package browse

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

func serving(t *testing.T, s *Server) (ended chan error) {
	t.Helper()
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "secret of "+r.URL.Path) })
	if _, err := s.Listen(0); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(stop)
	return ended
}

// TestGuard: only who has the address gets an answer, under its own name, and not from a page of another
// site.
func TestGuard(t *testing.T) {
	s := &Server{Idle: time.Hour}
	serving(t, s)
	at := s.Address()
	own := strings.TrimSuffix(at, "/"+s.token+"/")
	for _, c := range []struct {
		what, url, header, value string
		method                   string
		want                     int
	}{
		{"the address", at, "", "", "GET", 200},
		{"a page of it", at + "s/1", "Sec-Fetch-Site", "same-origin", "GET", 200},
		{"somebody who typed it", at, "Sec-Fetch-Site", "none", "GET", 200},
		{"its own origin", at, "Origin", own, "GET", 200},
		{"no token", own + "/", "", "", "GET", 403},
		{"another token", own + "/" + strings.Repeat("0", 32) + "/", "", "", "GET", 403},
		{"a token that is cut", at[:len(at)-2] + "/", "", "", "GET", 403},
		{"a way around it", own + "/x/../" + s.token + "/", "", "", "GET", 403},
		{"another name", at, "Host", "evil.example", "GET", 403},
		{"localhost", at, "Host", strings.Replace(s.host, "127.0.0.1", "localhost", 1), "GET", 403},
		{"another origin", at, "Origin", "http://evil.example", "GET", 403},
		{"no origin", at, "Origin", "null", "GET", 403},
		{"another port", at, "Origin", "http://127.0.0.1:1", "GET", 403},
		{"a page of another site", at, "Sec-Fetch-Site", "cross-site", "GET", 403},
		{"a page of another port", at, "Sec-Fetch-Site", "same-site", "GET", 403},
		{"another method", at, "", "", "POST", 405},
	} {
		r := must.Get(http.NewRequest(c.method, c.url, nil))
		if c.header == "Host" {
			r.Host = c.value
		} else if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		a, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body := string(must.Get(io.ReadAll(a.Body)))
		a.Body.Close()
		if a.StatusCode != c.want || strings.Contains(body, "secret") != (c.want == 200) {
			t.Errorf("%s: status %d, %q", c.what, a.StatusCode, body)
		}
		if strings.Contains(body, s.token) && c.want != 200 {
			t.Errorf("%s: the answer has the token", c.what)
		}
		for name := range headers {
			if a.Header.Get(name) == "" {
				t.Errorf("%s: no %s", c.what, name)
			}
		}
	}
}

// TestIdle: it ends when it is not used, and asking for changes is no use.
func TestIdle(t *testing.T) {
	t.Parallel()
	s := &Server{Idle: time.Second, Watch: "watch"} // far above the pauses below, since a busy machine stretches them
	ended := serving(t, s)
	begun := time.Now()
	for range 4 {
		time.Sleep(100 * time.Millisecond)
		must.Get(http.Get(s.Address())).Body.Close()
	}
	for range 50 {
		select {
		case err := <-ended:
			if took := time.Since(begun); err != nil || took < 1350*time.Millisecond {
				t.Errorf("it ended after %v: %v", took, err)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
		if a, err := http.Get(s.Address() + "watch"); err == nil {
			a.Body.Close()
		}
	}
	t.Error("it goes on")
}

// TestTaken: where another program has the port, it takes another one.
func TestTaken(t *testing.T) {
	one, two := &Server{}, &Server{}
	must.Get(one.Listen(0))
	defer one.listener.Close()
	taken, err := two.Listen(one.Port())
	if err != nil || !taken || two.Port() == one.Port() {
		t.Errorf("%v, %v", taken, err)
	}
	two.listener.Close()
}
