package reflector

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The fields of ObjectMeta, which is field 1 of every object.
const (
	objectMetadata  = 1
	metaName        = 1
	metaNamespace   = 3
	metaUID         = 5
	metaVersion     = 6
	metaAnnotations = 12
)

// peekProto passes over everything but the metadata by its length. It goes to
// the object's end all the same: of a field that comes twice, the last counts.
func peekProto(msg []byte) (id identity, err error) {
	var f field
	for len(msg) > 0 {
		if f, msg, err = nextField(msg); err != nil {
			return id, err
		}
		if f.num == objectMetadata && f.wire == wireBytes {
			if err := id.readMeta(f.bytes); err != nil {
				return id, err
			}
		}
	}
	return id, nil
}

func (id *identity) readMeta(msg []byte) (err error) {
	var f field
	for len(msg) > 0 {
		if f, msg, err = nextField(msg); err != nil {
			return err
		}
		if f.wire != wireBytes {
			continue
		}
		switch f.num {
		case metaName:
			id.name = f.bytes
		case metaNamespace:
			id.namespace = f.bytes
		case metaUID:
			id.uid = f.bytes
		case metaVersion:
			id.resourceVersion = f.bytes
		case metaAnnotations:
			if id.initialEventsEnd, err = endsInitial(f.bytes, id.initialEventsEnd); err != nil {
				return err
			}
		}
	}
	return nil
}

// endsInitial reads one annotation, a map entry of key and value.
func endsInitial(entry []byte, before bool) (bool, error) {
	var key, value []byte
	for len(entry) > 0 {
		f, rest, err := nextField(entry)
		if err != nil {
			return before, err
		}
		switch {
		case f.wire != wireBytes:
		case f.num == 1:
			key = f.bytes
		case f.num == 2:
			value = f.bytes
		}
		entry = rest
	}
	if string(key) == metav1.InitialEventsAnnotationKey {
		return string(value) == "true", nil
	}
	return before, nil
}
