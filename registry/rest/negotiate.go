package rest

import (
	"strconv"
	"strings"
)

const (
	typeV1   = "application/vnd.schemaregistry.v1+json"
	typeBare = "application/vnd.schemaregistry+json"
	typeJSON = "application/json"
)

// produced lists the types of answers by the server's preference.
func produced() [3]string { return [3]string{typeV1, typeBare, typeJSON} }

// negotiate returns the content type of the answer to a request with these
// Accept headers, or false if the client takes none. The client's quality
// decides, then the server's preference; a quality of 0 ranks last but excludes
// nothing. Parameters of the entry that was chosen are part of the type.
func negotiate(accept []string) (string, bool) {
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == typeV1 || accept[0] == "*/*") {
		return typeV1, true
	}
	best, bestQuality, bestRank, entries := "", -1.0, 0, 0
	for _, header := range accept {
		for entry := range strings.SplitSeq(header, ",") {
			entry = strings.TrimSpace(entry)
			if entry == "" {
				continue
			}
			entries++
			mediaType, params, quality := parseEntry(entry)
			for rank, t := range produced() {
				if !matches(mediaType, t) || quality < bestQuality || quality == bestQuality && rank >= bestRank {
					continue
				}
				best, bestQuality, bestRank = t, quality, rank
				if mediaType == t {
					best += params
				}
				break
			}
		}
	}
	if entries == 0 {
		return typeV1, true
	}
	return best, best != ""
}

// matches reports whether an entry of Accept covers a type. A bare "*" is what
// Java's HttpURLConnection writes.
func matches(entry, t string) bool {
	return entry == t || entry == "*/*" || entry == "application/*" || entry == "*"
}

// parseEntry splits an entry of Accept into the type in lower case, the
// parameters to repeat (with their semicolons) and the quality. "qs", which
// some clients write, is a server's quality and means nothing here.
func parseEntry(entry string) (mediaType, params string, quality float64) {
	quality = 1
	mediaType, rest, more := strings.Cut(entry, ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	for more {
		var param string
		param, rest, more = strings.Cut(rest, ";")
		param = strings.TrimSpace(param)
		key, value, _ := strings.Cut(param, "=")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "":
		case "q":
			if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
				quality = q
			}
		case "qs":
		default:
			if isPrintable(param) {
				params += ";" + param
			}
		}
	}
	return mediaType, params, quality
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// bodyType is the verdict on a Content-Type header.
type bodyType int

const (
	bodyTaken       bodyType = iota
	bodyUnsupported          // a type that is not read
	bodyMalformed            // no type at all
)

// checkContentType judges the type of a request body. None at all counts as
// octets, which are taken; parameters don't count.
func checkContentType(header string) bodyType {
	switch header {
	case "", typeV1, typeJSON:
		return bodyTaken
	}
	t, _, _ := strings.Cut(header, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	switch t {
	case typeV1, typeBare, typeJSON, "application/octet-stream":
		return bodyTaken
	}
	kind, sub, ok := strings.Cut(t, "/")
	if !ok || !isToken(kind) || !isToken(sub) {
		return bodyMalformed
	}
	return bodyUnsupported
}

// isToken reports whether s is a token of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7F || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
