package wire

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

const widgetGroup = "demo.informer.example"

// WidgetResource is the resource that WidgetCRD defines.
func WidgetResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: widgetGroup, Version: "v1", Resource: "widgets"}
}

// WidgetCRD is the custom resource that is recorded. A cluster to be recorded must
// have it installed.
func WidgetCRD() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	schema := &apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {
				Type: "object",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"color":  {Type: "string"},
					"serial": {Type: "integer", Format: "int64"},
					"weight": {Type: "number"},
					"extra":  {Type: "object", XPreserveUnknownFields: &preserve},
				},
			},
			"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"phase": {Type: "string"}}},
		},
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + widgetGroup},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: widgetGroup,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema:           &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
				SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}},
			}},
		},
	}
}

// makeWidgets creates five widgets in namespace shop.
func makeWidgets(ctx context.Context, client dynamic.Interface) error {
	for i, name := range []string{"anvil", "bolt", "cog", "dial", "gear"} {
		if _, err := createWidget(ctx, client, name, i); err != nil {
			return err
		}
	}
	return nil
}

// createWidget makes one whose numbers tell decoders apart: a serial that a
// float64 cannot hold, a weight that an int64 cannot.
func createWidget(ctx context.Context, client dynamic.Interface, name string, i int) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": widgetGroup + "/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": name, "labels": map[string]any{"size": []string{"small", "large"}[i%2]}},
		"spec": map[string]any{
			"color":  []string{"red", "green", "blue"}[i%3],
			"serial": int64(9007199254740993 + i),
			"weight": 0.5 + float64(i),
			"extra":  map[string]any{"tags": []any{"x", int64(1), true, nil}, "nested": map[string]any{"deep": "größer"}},
		},
	}}
	obj, err := client.Resource(WidgetResource()).Namespace("shop").Create(ctx, obj, metav1.CreateOptions{FieldManager: "recorder"})
	if err != nil {
		return nil, fmt.Errorf("make widget %s: %w", name, err)
	}
	return obj, nil
}
