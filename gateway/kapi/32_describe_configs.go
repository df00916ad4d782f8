package kapi

import (
	"context"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// DescribeConfigs, versions 0 to 4.
//
//	v1  sources and synonyms (KIP-226)
//	v3  types and documentation (KIP-569)
//	v4  flexible
//
// Topics (type 2) and this node (type 4, by its id, or "" for what clients have
// set for all nodes, which is nothing). Null names ask for all configs, unknown
// names are left out. Another type or node is INVALID_REQUEST. A resource named
// twice is answered once, so that a small request can't ask for a huge answer.
func (s *Server) describeConfigs(ctx context.Context, r *Request) (kmsg.Response, error) {
	req := r.Msg.(*kmsg.DescribeConfigsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	resp.Resources = []kmsg.DescribeConfigsResponseResource{}
	ctx, cancel := s.backendContext(ctx)
	defer cancel()
	type resourceName struct {
		kind kmsg.ConfigResourceType
		name string
	}
	seen := map[resourceName]bool{}
	for _, asked := range req.Resources {
		name := resourceName{asked.ResourceType, asked.ResourceName}
		if seen[name] {
			continue
		}
		seen[name] = true
		rr := kmsg.NewDescribeConfigsResponseResource()
		rr.ResourceType, rr.ResourceName = asked.ResourceType, asked.ResourceName
		configs, err := s.describeResource(ctx, req, asked)
		if err != nil {
			rr.ErrorCode, rr.ErrorMessage = s.adminCode(err), s.adminMessage(err)
		}
		rr.Configs = append([]kmsg.DescribeConfigsResponseResourceConfig{}, configs...)
		resp.Resources = append(resp.Resources, rr)
	}
	return resp, nil
}

func (s *Server) describeResource(ctx context.Context, req *kmsg.DescribeConfigsRequest, asked kmsg.DescribeConfigsRequestResource) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	switch asked.ResourceType {
	case kmsg.ConfigResourceTypeTopic:
		if err := checkTopicName(asked.ResourceName); err != nil {
			return nil, err
		}
		t, err := s.broker.TopicByName(ctx, asked.ResourceName)
		if err != nil {
			return nil, err
		}
		return describeRows(req, asked.ConfigNames, s.configs.sorted, func(row configRow) kmsg.DescribeConfigsResponseResourceConfig {
			return s.describeTopicConfig(req, row, t)
		}), nil
	case kmsg.ConfigResourceTypeBroker:
		if asked.ResourceName == "" {
			return nil, nil
		}
		if asked.ResourceName != strconv.Itoa(int(s.opts.NodeID)) {
			return nil, refuse(kerr.InvalidRequest, "unexpected broker id, expected %d, but received %q", s.opts.NodeID, asked.ResourceName)
		}
		return describeRows(req, asked.ConfigNames, s.configs.node, func(row configRow) kmsg.DescribeConfigsResponseResourceConfig {
			c := describeConfig(req, row, row.value, row.source())
			c.ReadOnly = true
			if req.IncludeSynonyms {
				c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(row.name, row.value, row.source()))
			}
			return c
		}), nil
	default:
		return nil, refuse(kerr.InvalidRequest, "configs of resource type %d are not known", asked.ResourceType)
	}
}

func describeRows(req *kmsg.DescribeConfigsRequest, names []string, rows []configRow, describe func(configRow) kmsg.DescribeConfigsResponseResourceConfig) []kmsg.DescribeConfigsResponseResourceConfig {
	var out []kmsg.DescribeConfigsResponseResourceConfig
	for _, row := range rows {
		if names == nil || slices.Contains(names, row.name) {
			out = append(out, describe(row))
		}
	}
	return out
}

func (s *Server) describeTopicConfig(req *kmsg.DescribeConfigsRequest, row configRow, t backend.Topic) kmsg.DescribeConfigsResponseResourceConfig {
	own, set := t.Configs[row.name]
	value, source := row.value, row.source()
	if set {
		value, source = own, kmsg.ConfigSourceDynamicTopicConfig
	}
	c := describeConfig(req, row, value, source)
	if !req.IncludeSynonyms {
		return c
	}
	if set {
		c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(row.name, own, source))
	}
	name := row.synonym
	if name == "" {
		name = row.name
	}
	c.ConfigSynonyms = append(c.ConfigSynonyms, synonym(name, row.value, row.source()))
	return c
}

func describeConfig(req *kmsg.DescribeConfigsRequest, row configRow, value string, source kmsg.ConfigSource) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	c.Name, c.Value, c.Source, c.ConfigType = row.name, &value, source, row.kind
	c.IsDefault = source == kmsg.ConfigSourceDefaultConfig
	c.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	if req.IncludeDocumentation {
		c.Documentation = &row.doc
	}
	return c
}

func synonym(name, value string, source kmsg.ConfigSource) kmsg.DescribeConfigsResponseResourceConfigConfigSynonym {
	x := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
	x.Name, x.Value, x.Source = name, &value, source
	return x
}
