package apisim

import (
	"github.com/munnerz/goautoneg"
)

const (
	jsonMedia  = "application/json"
	protoMedia = "application/vnd.kubernetes.protobuf"
	yamlMedia  = "application/yaml"
	// streamMedia marks a protobuf answer as a sequence of frames.
	streamMedia = protoMedia + ";stream=watch"
)

// negotiate picks the encoding of an answer from an Accept header. partial is
// the name that asks for metadata only, "" if neither that nor a table is on offer; ok says
// which plain encodings are. A clause that asks for anything else is passed over, as
// by the real server.
func negotiate(accept string, offered func(encoding) bool, partial string) (encoding, bool) {
	if accept == "" {
		return encJSON, true
	}
	for _, c := range goautoneg.ParseAccept(accept) {
		for _, enc := range [...]encoding{encJSON, encProto} {
			subtype := "json"
			if enc.proto() {
				subtype = "vnd.kubernetes.protobuf"
			}
			if !(c.Type == "application" && (c.SubType == subtype || c.SubType == "*") || c.Type == "*" && c.SubType == "*") {
				continue
			}
			if stream := c.Params["stream"]; stream != "" && stream != "watch" || c.Params["sv"] != "" {
				continue
			}
			as, g, v := c.Params["as"], c.Params["g"], c.Params["v"]
			switch {
			case as == "" && g == "" && v == "":
				if offered(enc) {
					return enc, true
				}
			case partial != "" && as == "Table" && enc == encJSON && g == "meta.k8s.io" && v == "v1":
				return encTable, true
			case partial != "" && as == partial && g == "meta.k8s.io" && v == "v1":
				return enc + encPartialJSON, true
			}
		}
	}
	return 0, false
}

// offers reports the plain encodings of the resource's objects.
func (r *Resource) offers(e encoding) bool { return r.typed() || !e.proto() }

func (r *Resource) mediaTypes(stream bool) []string {
	var types []string
	for _, proto := range [...]bool{false, true} {
		if r.typed() || !proto {
			types = append(types, mediaType(proto, stream))
		}
	}
	return types
}

func mediaType(proto, stream bool) string {
	switch {
	case proto && stream:
		return streamMedia
	case proto:
		return protoMedia
	}
	return jsonMedia
}
