package kapi

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/envelope"
	"milena/serde/schema"
)

const (
	maxLong = "9223372036854775807"
	day     = "86400000"
	week    = "604800000"
)

// topicConfigs are the topic configs that are accepted: Kafka's of the 4.x
// releases by name, type and default, and our own. What a config does, or that
// it is only kept, is said in the doc text, which DescribeConfigs hands out.
func topicConfigs(o Options) []configRow {
	const (
		boolT   = kmsg.ConfigTypeBoolean
		intT    = kmsg.ConfigTypeInt
		longT   = kmsg.ConfigTypeLong
		doubleT = kmsg.ConfigTypeDouble
		textT   = kmsg.ConfigTypeString
		listT   = kmsg.ConfigTypeList
	)
	const kept = " Kept and shown; has no effect here."
	ours := func(name string) func(string) error {
		return func(v string) error { return envelope.CheckConfig(name, v) }
	}
	return []configRow{
		{envelope.ConfigKeyValidation, textT, o.KeyMode.String(), "", ours(envelope.ConfigKeyValidation),
			"What happens to keys that are no valid envelope: " + strings.Join(envelope.ModeNames(), ", ") + ".", false},
		{envelope.ConfigSchemaContext, textT, schema.DefaultContext, "", ours(envelope.ConfigSchemaContext),
			"The registry context in which schema ids of this topic are looked up, and no other.", false},
		{envelope.ConfigValueValidation, textT, o.ValueMode.String(), "", ours(envelope.ConfigValueValidation),
			"What happens to values that are no valid envelope: " + strings.Join(envelope.ModeNames(), ", ") + ".", false},
		{"cleanup.policy", listT, "delete", "log.cleanup.policy", listOf("delete", "compact"),
			"What happens to old records: delete, compact, or both. Compacted topics refuse records without a key.", false},
		{"compression.gzip.level", intT, "-1", "compression.gzip.level", gzipLevel, "Level of gzip." + kept, false},
		{"compression.lz4.level", intT, "9", "compression.lz4.level", between(1, 17), "Level of lz4." + kept, false},
		{"compression.type", textT, "producer", "compression.type", oneOf(envelope.CompressionNames()...),
			"How consumers get records. With producer, recent batches go out as they came in, older ones as lz4 where the producer compressed. " +
				"Consumers that don't know zstd get lz4.", false},
		{"compression.zstd.level", intT, "3", "compression.zstd.level", between(-131072, 22), "Level of zstd." + kept, false},
		{"delete.retention.ms", longT, day, "log.cleaner.delete.retention.ms", longFrom(0), "How long tombstones are kept after compaction." + kept, false},
		{"file.delete.delay.ms", longT, "60000", "log.segment.delete.delay.ms", longFrom(0), "Delay before a file is deleted." + kept, false},
		{"flush.messages", longT, maxLong, "log.flush.interval.messages", longFrom(1), "Records between syncs." + kept, false},
		{"flush.ms", longT, maxLong, "log.flush.interval.ms", longFrom(0), "Time between syncs." + kept, false},
		{"follower.replication.throttled.replicas", listT, "", "", anyText, "Throttled replicas of followers." + kept, false},
		{"index.interval.bytes", intT, "4096", "log.index.interval.bytes", intFrom(0), "Bytes between index entries." + kept, false},
		{"leader.replication.throttled.replicas", listT, "", "", anyText, "Throttled replicas of leaders." + kept, false},
		{"local.retention.bytes", longT, "-2", "log.local.retention.bytes", longFrom(-2), "Bytes kept locally." + kept, false},
		{"local.retention.ms", longT, "-2", "log.local.retention.ms", longFrom(-2), "Time kept locally." + kept, false},
		{"max.compaction.lag.ms", longT, maxLong, "log.cleaner.max.compaction.lag.ms", longFrom(1), "Longest time before a record may be compacted." + kept, false},
		{"max.message.bytes", intT, strconv.Itoa(int(o.MessageBytesMax)), "message.max.bytes", intFrom(0),
			"Largest record batch accepted, in bytes, as it arrives (compressed).", o.MessageBytesMax != 1_048_588},
		{"message.timestamp.after.max.ms", longT, "3600000", "log.message.timestamp.after.max.ms", longFrom(0),
			"How far a record's timestamp may lie in the future.", false},
		{"message.timestamp.before.max.ms", longT, maxLong, "log.message.timestamp.before.max.ms", longFrom(0),
			"How far a record's timestamp may lie in the past.", false},
		{"message.timestamp.type", textT, "CreateTime", "log.message.timestamp.type", oneOf("CreateTime", "LogAppendTime"),
			"Whether consumers see the producer's timestamps or the time of the append.", false},
		{"min.cleanable.dirty.ratio", doubleT, "0.5", "log.cleaner.min.cleanable.ratio", ratio, "Share of uncompacted data that starts compaction." + kept, false},
		{"min.compaction.lag.ms", longT, "0", "log.cleaner.min.compaction.lag.ms", longFrom(0), "Shortest time before a record may be compacted." + kept, false},
		{"min.insync.replicas", intT, "1", "min.insync.replicas", intFrom(1), "Replicas needed for acks=all." + kept, false},
		{"preallocate", boolT, "false", "log.preallocate", boolean, "Preallocate files." + kept, false},
		{"remote.log.copy.disable", boolT, "false", "", boolean, "Stop tiering." + kept, false},
		{"remote.log.delete.on.disable", boolT, "false", "", boolean, "Delete tiered data when tiering is turned off." + kept, false},
		{"remote.storage.enable", boolT, "false", "", boolean, "Tiering." + kept, false},
		{"retention.bytes", longT, "-1", "log.retention.bytes", longFrom(-1), "Bytes kept per partition, -1 for all." + kept, false},
		{"retention.ms", longT, week, "log.retention.ms", longFrom(-1), "Time records are kept, -1 for ever." + kept, false},
		{"segment.bytes", intT, "1073741824", "log.segment.bytes", intFrom(14), "Size of a file." + kept, false},
		{"segment.index.bytes", intT, "10485760", "log.index.size.max.bytes", intFrom(4), "Size of an index." + kept, false},
		{"segment.jitter.ms", longT, "0", "log.roll.jitter.ms", longFrom(0), "Jitter of segment.ms." + kept, false},
		{"segment.ms", longT, week, "log.roll.ms", longFrom(1), "Time until a file is closed." + kept, false},
		{"unclean.leader.election.enable", boolT, "false", "unclean.leader.election.enable", boolean, "Elect leaders that lack data." + kept, false},
	}
}

// nodeConfigs are what DescribeConfigs says about this node: the configs that
// tools look for, with the values in force. None can be changed by a client.
func nodeConfigs(o Options) []configRow {
	const (
		boolT = kmsg.ConfigTypeBoolean
		intT  = kmsg.ConfigTypeInt
		longT = kmsg.ConfigTypeLong
		textT = kmsg.ConfigTypeString
	)
	number := func(n int32) string { return strconv.Itoa(int(n)) }
	rows := []configRow{
		{"auto.create.topics.enable", boolT, strconv.FormatBool(!o.AutoCreateOff), "", boolean, "Create topics when clients first ask for them.", o.AutoCreateOff},
		{"broker.id", intT, number(o.NodeID), "", anyText, "Id of this node.", true},
		{"default.replication.factor", intT, "1", "", anyText, "Replication factor of topics created without one. Any factor is accepted and means 1.", false},
		{"node.id", intT, number(o.NodeID), "", anyText, "Id of this node.", true},
		{"num.partitions", intT, number(o.DefaultPartitions), "", anyText, "Partitions of topics created without a number.", o.DefaultPartitions != 1},
		{"log.retention.hours", intT, "168", "", anyText, "Hours records are kept.", false},
		{"offsets.retention.minutes", intT, "10080", "", anyText, "Minutes that offsets of an empty group are kept.", false},
		{"offset.metadata.max.bytes", intT, "4096", "", anyText, "Longest text with a committed offset.", false},
	}
	have := map[string]bool{}
	for _, t := range topicConfigs(o) {
		if t.synonym == "" || have[t.synonym] {
			continue
		}
		have[t.synonym] = true
		kind := t.kind
		switch kind {
		case kmsg.ConfigTypeDouble, longT, intT, boolT, kmsg.ConfigTypeList:
		default:
			kind = textT
		}
		rows = append(rows, configRow{t.synonym, kind, t.value, "", anyText, t.doc, t.static})
	}
	return rows
}
