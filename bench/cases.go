package bench

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Case is one object as three parties see it. Desired changes the image of the
// first container, and live has what a server and its controllers add.
type Case struct {
	Name                string
	Last, Live, Desired []byte
}

// Cases are Deployments of growing size.
func Cases() []Case {
	return []Case{
		deployment("deployment-1x2", 1, 2),
		deployment("deployment-3x10", 3, 10),
		deployment("deployment-20x50", 20, 50),
	}
}

func deployment(name string, containers, env int) Case {
	last := declared(containers, env, "1.25.0")
	desired := declared(containers, env, "1.25.1")
	return Case{name, encode(last), encode(stored(declared(containers, env, "1.25.0"), encode(last))), encode(desired)}
}

type object = map[string]any

// declared is the Deployment as a person writes it.
func declared(containers, env int, tag string) object {
	var list []any
	for c := range containers {
		var vars []any
		for v := range env {
			vars = append(vars, object{"name": fmt.Sprintf("SETTING_%d_%d", c, v), "value": fmt.Sprintf("value %d", v)})
		}
		image := fmt.Sprintf("registry.example.com/team/service-%d:%s", c, "1.25.0")
		if c == 0 {
			image = "registry.example.com/team/service-0:" + tag
		}
		list = append(list, object{
			"name": fmt.Sprintf("container-%d", c), "image": image, "env": vars,
			"ports":     []any{object{"containerPort": 8080 + c, "name": "http"}},
			"resources": object{"limits": object{"cpu": "500m", "memory": "256Mi"}, "requests": object{"cpu": "100m", "memory": "128Mi"}},
			"volumeMounts": []any{
				object{"name": "config", "mountPath": "/etc/service", "readOnly": true},
				object{"name": "scratch", "mountPath": "/var/tmp/service"},
			},
		})
	}
	labels := object{"app.kubernetes.io/name": "service", "app.kubernetes.io/part-of": "bench"}
	return object{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": object{"name": "service", "namespace": "bench", "labels": labels},
		"spec": object{
			"replicas": 3, "selector": object{"matchLabels": labels},
			"template": object{
				"metadata": object{"labels": labels},
				"spec": object{
					"containers": list,
					"volumes": []any{
						object{"name": "config", "configMap": object{"name": "service-config"}},
						object{"name": "scratch", "emptyDir": object{}},
					},
				},
			},
		},
	}
}

// stored is a declared Deployment with what a server and its controllers add.
func stored(d object, lastApplied []byte) object {
	meta := d["metadata"].(object)
	maps.Copy(meta, object{
		"annotations": object{
			"deployment.kubernetes.io/revision":                "4",
			"kubectl.kubernetes.io/last-applied-configuration": string(lastApplied) + "\n",
		},
		"creationTimestamp": "2026-01-02T03:04:05Z", "generation": 4,
		"resourceVersion": "123456", "uid": "0b9e1f7a-4a2e-4f0e-9f57-3b1a0c8d2e11",
	})
	spec := d["spec"].(object)
	maps.Copy(spec, object{
		"progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
		"strategy": object{"type": "RollingUpdate", "rollingUpdate": object{"maxSurge": "25%", "maxUnavailable": "25%"}},
	})
	template := spec["template"].(object)
	template["metadata"].(object)["creationTimestamp"] = nil
	pod := template["spec"].(object)
	maps.Copy(pod, object{
		"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
		"securityContext": object{}, "terminationGracePeriodSeconds": 30,
	})
	for _, c := range pod["containers"].([]any) {
		maps.Copy(c.(object), object{
			"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		})
		for _, p := range c.(object)["ports"].([]any) {
			p.(object)["protocol"] = "TCP"
		}
	}
	pod["volumes"].([]any)[0].(object)["configMap"].(object)["defaultMode"] = 420
	condition := func(kind, reason string) object {
		return object{
			"type": kind, "status": "True", "reason": reason, "message": "ReplicaSet has successfully progressed.",
			"lastTransitionTime": "2026-01-02T03:04:05Z", "lastUpdateTime": "2026-01-02T03:04:09Z",
		}
	}
	d["status"] = object{
		"availableReplicas": 3, "readyReplicas": 3, "replicas": 3, "updatedReplicas": 3, "observedGeneration": 4,
		"conditions": []any{condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable")},
	}
	return d
}

func encode(o object) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return text
}
