// Package reflector turns an API server's lists and watches into a complete
// list, and then the changes to it, for one resource.
package reflector
