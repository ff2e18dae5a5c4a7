package apisim_test

import (
	"bufio"
	"fmt"
	"net/http"

	"informer.example/apisim"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A watch in memory: no socket, no port, nothing to shut down.
func Example() {
	server := apisim.New()
	client := &http.Client{Transport: server.RoundTripper()}

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}
	from := server.ResourceVersion()
	if _, err := server.Create(apisim.Pods().GVR, pod); err != nil {
		panic(err)
	}
	if _, err := server.Delete(apisim.Pods().GVR, "default", "web-0"); err != nil {
		panic(err)
	}

	accept := "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	req, err := http.NewRequest(http.MethodGet, "http://any/api/v1/pods?watch=true&resourceVersion="+from, nil)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := client.Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	frames := bufio.NewScanner(resp.Body)
	for range 2 {
		frames.Scan()
		fmt.Printf("%.16s...\n", frames.Text())
	}
	fmt.Println(server.Stats().Count("watch", "pods"), "watch")
	// Output:
	// {"type":"ADDED",...
	// {"type":"DELETED...
	// 1 watch
}
