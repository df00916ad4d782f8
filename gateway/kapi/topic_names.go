package kapi

import "github.com/twmb/franz-go/pkg/kerr"

// topicNameBytesMax is Kafka's limit.
const topicNameBytesMax = 249

// checkTopicName reports names that Kafka refuses: empty, ".", "..", longer
// than 249 bytes, or with other characters than letters, digits, dot, dash and
// underscore.
func checkTopicName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > topicNameBytesMax {
		return kerr.InvalidTopicException
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return kerr.InvalidTopicException
		}
	}
	return nil
}

// leaderEpoch is the epoch of every partition: there is one leader, which
// never changes, and an epoch that went backwards would make clients ignore
// metadata (KIP-320).
const leaderEpoch int32 = 0

// checkLeaderEpoch compares the epoch that a client believes in, -1 for none.
func checkLeaderEpoch(current int32) error {
	switch {
	case current == -1 || current == leaderEpoch:
		return nil
	case current < leaderEpoch:
		return kerr.FencedLeaderEpoch
	default:
		return kerr.UnknownLeaderEpoch
	}
}
