package bench

import (
	"fmt"
	"maps"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// deploymentOf changes the image of the first container.
func deploymentOf(containers, env int) documents {
	last := encode(declared(containers, env, "1.25.0"))
	return documents{
		last: last, live: encode(stored(declared(containers, env, "1.25.0"), last)),
		desired: encode(declared(containers, env, "1.25.1")),
		merged:  encode(stored(declared(containers, env, "1.25.1"), last)),
	}
}

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
func stored(d object, applied []byte) object {
	serverMeta(d, object{"deployment.kubernetes.io/revision": "4", lastApplied: string(applied) + "\n"})
	spec := d["spec"].(object)
	maps.Copy(spec, object{
		"progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
		"strategy": object{"type": "RollingUpdate", "rollingUpdate": object{"maxSurge": "25%", "maxUnavailable": "25%"}},
	})
	template := spec["template"].(object)
	template["metadata"].(object)["creationTimestamp"] = nil
	podDefaults(template["spec"].(object))
	d["status"] = object{
		"availableReplicas": 3, "readyReplicas": 3, "replicas": 3, "updatedReplicas": 3, "observedGeneration": 4,
		"conditions": []any{condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable")},
	}
	return d
}

func serverMeta(o, annotations object) {
	maps.Copy(o["metadata"].(object), object{
		"creationTimestamp": "2026-01-02T03:04:05Z", "generation": 4,
		"resourceVersion": "123456", "uid": "0b9e1f7a-4a2e-4f0e-9f57-3b1a0c8d2e11",
	})
	if len(annotations) > 0 {
		o["metadata"].(object)["annotations"] = annotations
	}
}

func podDefaults(pod object) {
	maps.Copy(pod, object{
		"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
		"securityContext": object{}, "terminationGracePeriodSeconds": 30,
	})
	for _, c := range pod["containers"].([]any) {
		maps.Copy(c.(object), object{
			"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		})
		ports, _ := c.(object)["ports"].([]any)
		for _, p := range ports {
			p.(object)["protocol"] = "TCP"
		}
	}
	if volumes, ok := pod["volumes"].([]any); ok {
		volumes[0].(object)["configMap"].(object)["defaultMode"] = 420
	}
}

func condition(kind, reason string) object {
	return object{
		"type": kind, "status": "True", "reason": reason, "message": "The condition holds.",
		"lastTransitionTime": "2026-01-02T03:04:05Z", "lastUpdateTime": "2026-01-02T03:04:09Z",
	}
}

// podOf makes a Pod of one container. Desired changes its image or, of a list, which is
// that of its environment: changes one element in the middle and drops the next.
func podOf(list bool, env int) documents {
	build := func(desired, live bool) object {
		var vars []any
		for v := range env {
			e := object{"name": fmt.Sprintf("SETTING_%06d", v), "value": fmt.Sprintf("value %d", v)}
			switch {
			case list && desired && v == env/2:
				e["value"] = "another value"
			case list && desired && v == env/2+1:
				continue
			}
			vars = append(vars, e)
		}
		if live && list {
			vars = append(vars, object{"name": "INJECTED", "value": "by another"})
		}
		tag := "1.25.0"
		if desired && !list {
			tag = "1.25.1"
		}
		return object{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": object{"name": "worker", "namespace": "bench", "labels": object{"app": "worker"}},
			"spec":     object{"containers": []any{object{"name": "worker", "image": "registry.example.com/team/worker:" + tag, "env": vars}}},
		}
	}
	last := encode(build(false, false))
	server := func(o object) []byte {
		if list {
			serverMeta(o, nil) // an annotation of that size no server takes
		} else {
			serverMeta(o, object{lastApplied: string(last) + "\n"})
		}
		podDefaults(o["spec"].(object))
		o["status"] = object{"phase": "Running", "qosClass": "BestEffort", "conditions": []any{podCondition("Ready"), podCondition("PodScheduled")}}
		return encode(o)
	}
	return documents{
		last: last, live: server(build(false, true)),
		desired: encode(build(true, false)), merged: server(build(true, true)),
	}
}

func podCondition(kind string) object {
	return object{"type": kind, "status": "True", "lastProbeTime": nil, "lastTransitionTime": "2026-01-02T03:04:05Z"}
}
