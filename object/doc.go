// Package object is the ground that every other package stands on: what an
// object is called ([Key]), how a received object is carried ([Item]), and how
// two versions of it compare ([CompareVersions]).
//
//	        wire bytes
//	            │ decode
//	            ▼
//	Item{Key, UID, ResourceVersion, Object}   by value, from here to the handler
//	  │                     │
//	  │                     └ beside the object, so that a transform may strip
//	  │                       them from it
//	  └ Namespace + Name, computed once
//
// # Promises
//
//   - O1 A Key is comparable with ==, and [Key.Compare] returns 0 for equal keys only.
//   - O2 Key.Compare orders keys as the API server lists them: by the bytes of
//     "namespace/name". So "a-b/x" comes before "a/x".
//   - O3 [ParseKey] and [Key.String] are inverse for every key whose parts hold
//     no slash.
//   - O4 [CompareVersions] never guesses: two resourceVersions that it can't
//     order are an error.
//
// # Not promised
//
// Nothing here checks that names are legal Kubernetes names. A resourceVersion
// orders versions of one resource on one server; comparing those of two
// resources, or of two clusters, says nothing.
package object
