package kapi

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// resource is what an API's caller needs permission for.
type resource uint8

const (
	none resource = iota
	cluster
	topic
	group
	transactionalID
)

// flags of an API.
type flags uint8

const (
	// preAuth: may be asked before authentication.
	preAuth flags = 1 << iota
	// mayWait: a long poll; it calls Request.Park before it waits for others.
	mayWait
	// overlaps: starts while earlier requests of the connection that overlap
	// too are still running; it calls Request.Turn before its effect, and
	// Request.Pass once that has its place.
	overlaps
	// listedFromZero: ApiVersions names minimum 0 although requests below min
	// close the connection (KAFKA-18659: librdkafka before 2.11.1 turns
	// compression off unless it sees Produce 0).
	listedFromZero
	// needsGroups: left out of the table without Options.Groups.
	needsGroups
	// needsEnvelope: left out of the table without Options.Envelope.
	needsEnvelope
	// largeFrames: carries records, so that its frames may be as large as the
	// gateway allows; its parts are counted before it is decoded (guard.go).
	largeFrames
)

// entry is one API. Flexible versions come from kmsg.
type entry struct {
	key      kmsg.Key
	min, max int16 // versions served
	handle   func(*Server, context.Context, *Request) (kmsg.Response, error)
	authz    resource
	flags    flags
	memory   func(frameBytes int64) int64 // bytes to reserve before decoding
	sources  string                       // KIPs
}

// Memory estimates.

// structs: what a request of many small parts can become. A topic or tag of a
// few bytes is a struct, string or map entry of up to a hundred times that,
// so these frames are also bounded (smallFrameBytesMax).
func structs(frameBytes int64) int64 { return 96 * frameBytes }

// produced: the frame, the stored batch, and the copy in the tail cache; what
// batches expand to is bounded by the envelope engine.
func produced(frameBytes int64) int64 { return 3 * frameBytes }

// table lists the APIs that are served, by key. It is a function because rows
// name handlers that read the table.
func table() []entry {
	return []entry{
		{kmsg.Produce, 3, 11, (*Server).produce, topic, overlaps | listedFromZero | needsEnvelope | largeFrames, produced, "KIP-98 KIP-110 KIP-467 KIP-890"},
		{kmsg.Fetch, 4, 17, (*Server).fetch, topic, mayWait | needsEnvelope, structs, "KIP-74 KIP-98 KIP-110 KIP-227 KIP-320 KIP-516"},
		{kmsg.ListOffsets, 1, 7, (*Server).listOffsets, topic, 0, structs, "KIP-98 KIP-320 KIP-734"},
		{kmsg.Metadata, 0, 12, (*Server).metadata, topic, 0, structs, "KIP-204 KIP-320 KIP-430 KIP-516"},
		{kmsg.OffsetCommit, 2, 9, (*Server).offsetCommit, group, needsGroups, structs, "KIP-320 KIP-345 KIP-848"},
		{kmsg.OffsetFetch, 1, 9, (*Server).offsetFetch, group, needsGroups, structs, "KIP-320 KIP-447 KIP-709"},
		{kmsg.FindCoordinator, 0, 5, (*Server).findCoordinator, group, 0, structs, "KIP-98 KIP-699"},
		{kmsg.JoinGroup, 0, 9, (*Server).joinGroup, group, mayWait | needsGroups, structs, "KIP-62 KIP-345 KIP-394 KIP-559 KIP-800 KIP-814"},
		{kmsg.Heartbeat, 0, 4, (*Server).heartbeat, group, needsGroups, structs, "KIP-345"},
		{kmsg.LeaveGroup, 0, 5, (*Server).leaveGroup, group, needsGroups, structs, "KIP-345 KIP-800"},
		{kmsg.SyncGroup, 0, 5, (*Server).syncGroup, group, mayWait | needsGroups, structs, "KIP-345 KIP-559"},
		{kmsg.DescribeGroups, 0, 6, (*Server).describeGroups, group, needsGroups, structs, "KIP-345 KIP-430 KIP-1043"},
		{kmsg.ListGroups, 0, 5, (*Server).listGroups, cluster, needsGroups, structs, "KIP-518 KIP-848"},
		{kmsg.ApiVersions, 0, 4, (*Server).apiVersions, none, preAuth, structs, "KIP-35 KIP-511 KIP-584"},
		{kmsg.CreateTopics, 0, 7, (*Server).createTopics, cluster, 0, structs, "KIP-4 KIP-464 KIP-516 KIP-525"},
		{kmsg.DeleteTopics, 0, 6, (*Server).deleteTopics, topic, 0, structs, "KIP-4 KIP-516"},
		{kmsg.InitProducerID, 0, 4, (*Server).initProducerID, transactionalID, 0, structs, "KIP-98 KIP-360"},
		{kmsg.OffsetForLeaderEpoch, 2, 4, (*Server).offsetForLeaderEpoch, topic, 0, structs, "KIP-320"},
		{kmsg.DescribeACLs, 0, 3, (*Server).describeACLs, cluster, 0, structs, "KIP-140 KIP-290 KIP-373"},
		{kmsg.CreateACLs, 0, 3, (*Server).createACLs, cluster, 0, structs, "KIP-140 KIP-290 KIP-373"},
		{kmsg.DeleteACLs, 0, 3, (*Server).deleteACLs, cluster, 0, structs, "KIP-140 KIP-290 KIP-373"},
		{kmsg.DescribeConfigs, 0, 4, (*Server).describeConfigs, topic, 0, structs, "KIP-133 KIP-226 KIP-569"},
		{kmsg.DeleteGroups, 0, 2, (*Server).deleteGroups, group, needsGroups, structs, "KIP-229"},
		{kmsg.ListPartitionReassignments, 0, 0, (*Server).listPartitionReassignments, cluster, 0, structs, "KIP-455"},
		{kmsg.OffsetDelete, 0, 0, (*Server).offsetDelete, group, needsGroups, structs, "KIP-496"},
		{kmsg.DescribeCluster, 0, 1, (*Server).describeCluster, cluster, 0, structs, "KIP-700 KIP-919"},
		{kmsg.DescribeTopicPartitions, 0, 0, (*Server).describeTopicPartitions, topic, 0, structs, "KIP-966"},
	}
}
