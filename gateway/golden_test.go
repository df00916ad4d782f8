package gateway_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway"
	"milena/gateway/batch"
	"milena/gateway/coordinator"
	"milena/gateway/gatewaytest"
	"milena/gateway/kapi"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// TestGoldenFrames sends the frames of testdata/kafka, one file for each API
// with a request and its answer in every version, and compares every byte of
// what comes back. The bytes were checked when they were written; from then on
// they guard against a message library that changes its mind.
func TestGoldenFrames(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Options{
		Groups: coordinator.Options{NewMemberID: func(client string) string { return client + "-id" }},
		API:    func(o *kapi.Options) { o.AutoCreateOff = true },
		Server: func(o *gateway.Options) { o.Listeners[0].Advertise = "gateway.example:9092" },
	})
	c := dial(t, g.Addr)
	create := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = "t", 1, 1
	create.Topics = append(create.Topics, rt)
	if code := c.ask(7, create).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode; code != 0 {
		t.Fatalf("create topic: code %d", code)
	}
	for _, api := range g.Handlers.APIs() {
		file := filepath.Join("testdata", "kafka", fmt.Sprintf("%02d_%s.txt", api.Key(), api.Name()))
		frames := goldenRequests(t, api)
		if *update {
			writeGolden(t, c, file, api, frames)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s has no golden frames: %v", api.Name(), err)
			continue
		}
		checkGolden(t, c, file, string(text), frames)
	}
}

func writeGolden(t *testing.T, c *client, file string, api *kapi.API, frames [][]byte) {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "# %s: a request and its answer in each version, without their lengths.\n", api.Name())
	for i, f := range frames {
		c.write(f)
		fmt.Fprintf(&out, "\nv%d\n> %x\n< %x\n", int(api.Min())+i, f[4:], c.frame())
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func checkGolden(t *testing.T, c *client, file, text string, frames [][]byte) {
	t.Helper()
	version, count := "", 0
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		want, err := hex.DecodeString(rest)
		switch {
		case strings.HasPrefix(kind, "v"):
			version = kind
		case kind == ">" && err == nil && count < len(frames):
			if got := frames[count][4:]; string(got) != string(want) {
				t.Errorf("%s %s: the request is now\n%x, was\n%x", file, version, got, want)
			}
			c.write(frames[count])
			count++
		case kind == "<" && err == nil:
			if got := c.frame(); string(got) != string(want) {
				t.Errorf("%s %s: answer\n%x, want\n%x", file, version, got, want)
			}
		case kind == ">" || kind == "<":
			t.Fatalf("%s %s: %v, %d frames", file, version, err, len(frames))
		}
	}
	if count != len(frames) {
		t.Errorf("%s: %d frames for %d versions", file, count, len(frames))
	}
}

// goldenRequests are the frames of an API, one for each version. Their answers
// depend on nothing but the requests before: no clock, no random ids.
func goldenRequests(t *testing.T, api *kapi.API) [][]byte {
	t.Helper()
	var frames [][]byte
	for v := api.Min(); v <= api.Max(); v++ {
		req := goldenRequest(v, kmsg.Key(api.Key()))
		if req == nil {
			t.Errorf("%s has no golden request", api.Name())
			return nil
		}
		frames = append(frames, request(v, 1000+int32(v), req))
	}
	return frames
}

func goldenRequest(v int16, key kmsg.Key) kmsg.Request {
	switch key {
	case kmsg.Produce, kmsg.Fetch, kmsg.ListOffsets, kmsg.OffsetForLeaderEpoch:
		return goldenData(v, key)
	case kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.LeaveGroup:
		return goldenGroup(v, key)
	case kmsg.DescribeGroups, kmsg.ListGroups, kmsg.DeleteGroups, kmsg.OffsetDelete:
		return goldenGroupAdmin(key)
	case kmsg.DescribeACLs, kmsg.CreateACLs, kmsg.DeleteACLs, kmsg.ListPartitionReassignments, kmsg.DescribeCluster:
		return goldenCluster(v, key)
	case kmsg.DescribeTopicPartitions:
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "absent"}, {Topic: "in valid"}}
		req.ResponsePartitionLimit = 1
		return req
	case kmsg.Metadata:
		return metadata(false, "absent", "in valid")
	case kmsg.FindCoordinator:
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorKeys = "group", []string{"group", "other"}
		return req
	case kmsg.ApiVersions:
		return apiVersions()
	case kmsg.CreateTopics:
		req := kmsg.NewPtrCreateTopicsRequest()
		rt := kmsg.NewCreateTopicsRequestTopic()
		rt.Topic, rt.NumPartitions, rt.ReplicationFactor = "new", 3, 1
		bad := rt
		bad.Topic = "in valid"
		req.Topics, req.ValidateOnly = append(req.Topics, rt, bad), true
		if v == 0 {
			req.Topics = req.Topics[1:] // v0 can't only validate
		}
		return req
	case kmsg.DeleteTopics:
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames = []string{"absent"}
		req.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("absent")}, {TopicID: [16]byte{1, 2, 3}}}
		return req
	case kmsg.InitProducerID:
		req := kmsg.NewPtrInitProducerIDRequest()
		return req
	case kmsg.DescribeConfigs:
		req := kmsg.NewPtrDescribeConfigsRequest()
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, "t", []string{"retention.ms"}
		req.Resources = append(req.Resources, r)
		req.IncludeSynonyms, req.IncludeDocumentation = true, true
		return req
	}
	return nil
}

// goldenGroupAdmin asks about what goldenGroup left: a group with an offset and one
// with a member.
func goldenGroupAdmin(key kmsg.Key) kmsg.Request {
	groups := []string{"simple", "join-v0", "absent"}
	switch key {
	case kmsg.DescribeGroups:
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = groups
		return req
	case kmsg.ListGroups:
		return kmsg.NewPtrListGroupsRequest()
	case kmsg.DeleteGroups:
		req := kmsg.NewPtrDeleteGroupsRequest()
		req.Groups = groups[1:]
		return req
	default:
		req := kmsg.NewPtrOffsetDeleteRequest()
		req.Group = "simple"
		req.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}, {Partition: 1}}}}
		return req
	}
}

// goldenCluster is about what there is one or none of.
func goldenCluster(v int16, key kmsg.Key) kmsg.Request {
	switch key {
	case kmsg.DescribeACLs:
		req := kmsg.NewPtrDescribeACLsRequest()
		req.ResourceType, req.Operation, req.PermissionType = kmsg.ACLResourceTypeAny, kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
		return req
	case kmsg.CreateACLs:
		req := kmsg.NewPtrCreateACLsRequest()
		c := kmsg.NewCreateACLsRequestCreation()
		c.ResourceType, c.ResourceName, c.Principal, c.Host = kmsg.ACLResourceTypeTopic, "t", "User:x", "*"
		req.Creations = append(req.Creations, c)
		return req
	case kmsg.DeleteACLs:
		req := kmsg.NewPtrDeleteACLsRequest()
		f := kmsg.NewDeleteACLsRequestFilter()
		f.ResourceType, f.ResourceName = kmsg.ACLResourceTypeTopic, kmsg.StringPtr("t")
		req.Filters = append(req.Filters, f)
		return req
	case kmsg.ListPartitionReassignments:
		req := kmsg.NewPtrListPartitionReassignmentsRequest()
		req.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: "t", Partitions: []int32{0}}}
		return req
	default:
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeClusterAuthorizedOperations = v == 0
		return req
	}
}

// goldenBatch is a record batch with one record of the year 2020.
func goldenBatch() []byte {
	ts := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	b := batch.AppendRecord(batch.Begin(nil), &batch.Record{Key: []byte("key"), Value: []byte("value")})
	batch.Finish(b, batch.Header{
		LeaderEpoch: -1, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1,
		FirstTimestamp: ts, MaxTimestamp: ts, Count: 1,
	})
	return b
}

func goldenData(v int16, key kmsg.Key) kmsg.Request {
	id := [16]byte{1, 2, 3} // of no topic
	switch key {
	case kmsg.Produce:
		req := kmsg.NewPtrProduceRequest()
		req.Acks, req.TimeoutMillis = -1, 5000
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic, rt.TopicID = "t", id
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Records = goldenBatch()
		beyond := rp
		beyond.Partition = 1
		rt.Partitions = append(rt.Partitions, rp, beyond)
		req.Topics = append(req.Topics, rt)
		return req
	case kmsg.Fetch:
		req := kmsg.NewPtrFetchRequest()
		req.MaxBytes, req.MinBytes = 1<<20, 1
		rt := kmsg.NewFetchRequestTopic()
		rt.Topic, rt.TopicID = "t", id
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.PartitionMaxBytes = 1 // the first batch comes all the same
		beyond := rp
		beyond.Partition = 1
		rt.Partitions = append(rt.Partitions, rp, beyond)
		req.Topics = append(req.Topics, rt)
		return req
	case kmsg.OffsetForLeaderEpoch:
		req := kmsg.NewPtrOffsetForLeaderEpochRequest()
		rt := kmsg.NewOffsetForLeaderEpochRequestTopic()
		rt.Topic = "t"
		for partition := range int32(2) {
			rp := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			rp.Partition = partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
		return req
	default:
		req := kmsg.NewPtrListOffsetsRequest()
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = "t"
		for partition := range int32(2) {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.Timestamp = partition, -1
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
		return req
	}
}

func goldenGroup(v int16, key kmsg.Key) kmsg.Request {
	switch key {
	case kmsg.OffsetCommit:
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Group, req.Generation = "simple", -1
		rt := kmsg.NewOffsetCommitRequestTopic()
		rt.Topic = "t"
		for partition := range int32(2) {
			rp := kmsg.NewOffsetCommitRequestTopicPartition()
			rp.Partition, rp.Offset, rp.Metadata = partition, 5, kmsg.StringPtr("note")
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
		return req
	case kmsg.OffsetFetch:
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = "simple"
		req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0, 1}}}
		rg := kmsg.NewOffsetFetchRequestGroup()
		rg.Group = "simple"
		gt := kmsg.NewOffsetFetchRequestGroupTopic()
		gt.Topic, gt.Partitions = "t", []int32{0, 1}
		rg.Topics = append(rg.Topics, gt)
		req.Groups = append(req.Groups, rg)
		return req
	case kmsg.JoinGroup:
		req := kmsg.NewPtrJoinGroupRequest()
		req.Group, req.ProtocolType = fmt.Sprintf("join-v%d", v), "consumer"
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 10_000
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = "range", []byte{1, 2, 3}
		req.Protocols = append(req.Protocols, p)
		return req
	case kmsg.SyncGroup:
		req := kmsg.NewPtrSyncGroupRequest()
		req.Group, req.MemberID, req.Generation = "absent", "member", 1
		req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
		return req
	case kmsg.Heartbeat:
		req := kmsg.NewPtrHeartbeatRequest()
		req.Group, req.MemberID, req.Generation = "absent", "member", 1
		return req
	default:
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Group, req.MemberID = "absent", "member"
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = "member"
		req.Members = append(req.Members, m)
		return req
	}
}
