package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options configure a Client. URL is required; the zero value of everything
// else is usable.
type Options struct {
	// URL is where the registry is: one base URL, or several separated by
	// commas that lead to the same registry. A path is kept, user and password
	// are sent as HTTP Basic credentials.
	URL string
	// User and Password are HTTP Basic credentials for URLs without their own.
	User, Password string
	// Token returns the bearer token of a request; it is called for each
	// attempt and keeps tokens itself. It can't be combined with User.
	Token func(context.Context) (string, error)
	// TLS is used with https URLs: RootCAs to trust, Certificates for mutual
	// TLS. It counts only without Transport.
	TLS *tls.Config
	// Header is sent with every request, such as target-sr-cluster.
	Header http.Header
	// Transport sends the requests; default one of its own.
	Transport http.RoundTripper
	// Observer gets what the Client does.
	Observer Observer
	// Clock returns the present time; time.Now if nil.
	Clock func() time.Time

	AttemptsMax       int           // per request, at least one per URL; default 3
	AttemptTimeout    time.Duration // of a look-up's attempt; default 3 s
	RequestTimeout    time.Duration // of the attempt of everything else but export and import; default 30 s
	RetryDelay        time.Duration // before the second attempt, doubled each time, with jitter; default 100 ms
	AnswerBytesMax    int           // bytes of one answer; default 64 MiB
	ReferencesMax     int           // references of one schema, all of them; default 1,000
	ReferenceDepthMax int           // length of a chain of references; default 128
	ResolvedBytesMax  int           // bytes of a schema with all of its references; default 32 MiB
	CacheEntriesMax   int           // entries of each cache; default 4,096
	CacheBytesMax     int           // bytes of each cache; default 32 MiB
	CacheTTL          time.Duration // of versions by number, also behind references; default 5 min
	IDsTTL            time.Duration // of schemas by id and GUID; default for ever
	LatestTTL         time.Duration // of latest versions; default 1 min
	SubjectsTTL       time.Duration // of what is registered under a subject; default 5 min
	UnknownTTL        time.Duration // of "there is none"; default 2 s
}

// Observer gets what a Client does. Every field may be nil. Functions must not
// block.
type Observer struct {
	// Asked is called after every HTTP request, with status 0 if there was no
	// answer.
	Asked func(status int, took time.Duration)
	// Retried is called when a request is about to be sent again.
	Retried func()
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&o.AttemptsMax, 3},
		{&o.AnswerBytesMax, 64 << 20},
		{&o.ReferencesMax, 1_000},
		{&o.ReferenceDepthMax, 128},
		{&o.ResolvedBytesMax, 32 << 20},
		{&o.CacheEntriesMax, 4_096},
		{&o.CacheBytesMax, 32 << 20},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.AttemptTimeout, 3 * time.Second},
		{&o.RequestTimeout, 30 * time.Second},
		{&o.RetryDelay, 100 * time.Millisecond},
		{&o.CacheTTL, 5 * time.Minute},
		{&o.LatestTTL, time.Minute},
		{&o.SubjectsTTL, 5 * time.Minute},
		{&o.UnknownTTL, 2 * time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Transport == nil {
		o.Transport = transport(o.TLS)
	}
	return o
}

func transport(config *tls.Config) http.RoundTripper {
	if config != nil {
		config = config.Clone()
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       config,
		MaxIdleConnsPerHost:   16,
		MaxConnsPerHost:       64,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
	}
}

// base is one of the URLs.
type base struct {
	url            string // without credentials and trailing slash
	user, password string
	withUser       bool
}

// bases reads the URLs and who asks there.
func (o *Options) bases() ([]base, error) {
	bases, err := parseURLs(o.URL)
	if err != nil {
		return nil, err
	}
	for i := range bases {
		b := &bases[i]
		if o.User != "" && !b.withUser {
			b.user, b.password, b.withUser = o.User, o.Password, true
		}
		if o.Token != nil && b.withUser {
			return nil, errors.New("registry credentials: both a user and a bearer token are given")
		}
	}
	return bases, nil
}

// parseURLs reads Options.URL. Errors never show a password.
func parseURLs(list string) ([]base, error) {
	var bases []base
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil {
			var parsing *url.Error
			if errors.As(err, &parsing) {
				err = parsing.Err // the error itself would repeat the URL
			}
			return nil, fmt.Errorf("registry URL: %w", err)
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("registry URL %s: want http://HOST:PORT or https://HOST:PORT", u.Redacted())
		}
		b := base{withUser: u.User != nil}
		if u.User != nil {
			b.user = u.User.Username()
			b.password, _ = u.User.Password()
		}
		u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
		b.url = strings.TrimRight(u.String(), "/")
		bases = append(bases, b)
	}
	if len(bases) == 0 {
		return nil, errors.New("registry URL: none given")
	}
	return bases, nil
}
