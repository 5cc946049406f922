package inject

import (
	"cmp"
	"slices"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
)

// containerLists share their names: first the lists that a template may add to.
var containerLists = [...]string{"containers", "initContainers", "ephemeralContainers"}

const defaultContainer = "kubectl.kubernetes.io/default-container"

// containersType is the type of each of those lists.
func containersType() *schema.Type { return fieldType(fieldType(podType(), "spec"), "containers") }

func containerPath(list, name string) node.Path {
	return node.Path{{Field: "spec"}, {Field: list}, {Elem: true, Keys: []node.KeyPair{{Name: "name", Value: name}}}}
}

// find returns a container of the pod and its list.
func (o *overlay) find(name string) (c *value, list string) {
	for _, list := range containerLists {
		if c := o.pod.path("spec", list).element(keysOf(containersType()), name); c != nil {
			return c, list
		}
	}
	return nil, ""
}

// begin notes what the author has before anything is laid over it.
func (o *overlay) begin() {
	o.owners = map[string]*value{}
	for _, list := range containerLists[:2] {
		for _, c := range o.pod.path("spec", list).elements() {
			if c.kind != node.Map {
				continue
			}
			if o.users = append(o.users, c.str("name")); list == "initContainers" && !isSidecar(c) {
				continue // it has ended when others listen
			}
			for _, p := range c.look("ports").elements() {
				o.own(p, c)
			}
		}
	}
}

func isSidecar(c *value) bool { return c.str("restartPolicy") == "Always" }

// containers adds the containers of a template.
func (o *overlay) containers(spec *value) {
	added := map[string][]item{}
	var lists []string
	for _, list := range [...]string{"initContainers", "containers"} {
		for _, c := range spec.get(list).elements() {
			name := c.str("name")
			if name == EveryContainer {
				o.everywhere(c)
				continue
			}
			own, target := o.target(c, list)
			if fresh := o.container(own, name, target); fresh != nil {
				if !slices.Contains(lists, target) {
					lists = append(lists, target)
				}
				added[target] = append(added[target], item{name, fresh, o.t.order[name]})
			}
		}
	}
	for _, list := range lists {
		path := node.Path{{Field: "spec"}, {Field: list}}
		if have := o.pod.path("spec", list); have != nil && have.kind != node.Null && have.kind != node.List {
			o.clash(Field, path, true, "a %s stands there", have.kind)
			continue
		}
		o.grow(containersType(), o.pod.get("spec"), list, path, added[list], true)
	}
}

// target returns a container of a template as it is to be, and the list that it goes to: a
// sidecar stands among the init containers where pods run to completion.
func (o *overlay) target(c *value, list string) (*value, string) {
	own, native := c.clone(), o.in.o.NativeSidecars
	switch {
	case list == "containers" && (native == NativeAlways || native == NativeAuto && o.p.ends()):
		own.set("restartPolicy", textValue("Always"))
		return own, "initContainers"
	case list == "initContainers" && isSidecar(c) && native == NativeNever:
		own.remove("restartPolicy")
		return own, "containers"
	}
	return own, list
}

// container lays a container over that of its name, or returns it if it is new.
func (o *overlay) container(c *value, name, list string) (fresh *value) {
	ct := elemType(containersType())
	have, at := o.find(name)
	switch {
	case have == nil:
		o.claimPorts(c, containerPath(list, name), list == "containers" || isSidecar(c))
		return c
	case at != "ephemeralContainers" && (o.t.override[name] || o.t.override[EveryContainer]):
		if at == "containers" {
			c.remove("restartPolicy")
		}
		o.fields(ct, have, c, containerPath(at, name), author, !have.ours)
	case at == list && same(ct, have, c, defaults):
	case o.clash(ContainerName, containerPath(at, name), at != list || have.ours, "the object has a container of that name"):
		o.clashes = o.clashes[:len(o.clashes)-1] // each field that differs is one
		o.fields(ct, have, c, containerPath(at, name), nobody, true)
	}
	return nil
}

// everywhere adds to each container of the author's own.
func (o *overlay) everywhere(c *value) {
	c = c.clone()
	c.remove("name")
	for _, name := range o.users {
		have, list := o.find(name)
		if have == nil || name == "" {
			continue
		}
		o.fields(elemType(containersType()), have, c, containerPath(list, name), nobody, true)
	}
}

// portKeys returns what no other container may listen on: a container port, a host port.
func portKeys(p *value) (port, host string) {
	number := func(field string) string {
		if kind, text := p.scalar(field); kind == node.Number && text != "0" {
			return text
		}
		return ""
	}
	protocol := cmp.Or(p.str("protocol"), "TCP")
	if n := number("containerPort"); n != "" {
		port = n + "/" + protocol
	}
	if n := number("hostPort"); n != "" {
		host = "host " + n + "/" + protocol
		if ip := p.str("hostIP"); ip != "" && ip != "0.0.0.0" && ip != "::" {
			host += " " + ip
		}
	}
	return port, host
}

func (o *overlay) own(p, container *value) {
	port, host := portKeys(p)
	for _, key := range [...]string{port, host} {
		if key != "" && o.owners[key] == nil {
			o.owners[key] = container
		}
	}
	if i := strings.LastIndexByte(host, ' '); i > len("host") && o.owners[host[:i]+" *"] == nil {
		o.owners[host[:i]+" *"] = container // one address of all
	}
}

// portsFree reports whether no other container listens on a port, and reserves it.
func (o *overlay) portsFree(p *value, path node.Path, container *value) bool {
	port, host := portKeys(p)
	taken := func(key string) bool { return key != "" && o.owners[key] != nil && o.owners[key] != container }
	switch i := strings.LastIndexByte(host, ' '); {
	case taken(port):
		o.clash(Port, path, true, "another container listens there")
		return false
	case taken(host), i > len("host") && taken(host[:i]), host != "" && i <= len("host") && taken(host+" *"):
		o.clash(HostPort, path, true, "another container has that port of the host")
		return false
	}
	o.own(p, container)
	return true
}

// claimPorts drops the ports of a new container that others listen on.
func (o *overlay) claimPorts(c *value, path node.Path, listens bool) {
	if !listens {
		return
	}
	ports := c.look("ports").elements()
	keys := keysOf(fieldType(elemType(containersType()), "ports"))
	var free []*value
	for _, p := range ports {
		if o.portsFree(p, append(field(path, "ports"), stepTo(keys, p)), c) {
			free = append(free, p)
		}
	}
	switch len(free) {
	case len(ports):
	case 0:
		c.remove("ports")
	default:
		c.get("ports").replace(free)
	}
}

// nameDefault lets kubectl choose the author's first container, where one of ours stands
// before it.
func (o *overlay) nameDefault() {
	containers := o.pod.path("spec", "containers").elements()
	if len(containers) == 0 || !containers[0].ours {
		return
	}
	for _, c := range containers {
		if c.ours || c.str("name") == "" || o.pod.look("metadata", "annotations", defaultContainer) != nil {
			continue
		}
		if notes := o.annotations(); notes != nil {
			name := c.look("name")
			o.rec.did = append(o.rec.did, entry{at: annotationPath(defaultContainer), is: name})
			notes.set(defaultContainer, name)
		}
		return
	}
}

// annotations returns those of the pod, which it makes if there are none.
func (o *overlay) annotations() *value {
	meta := o.ensure(o.pod, nil, "metadata")
	if meta == nil {
		return nil
	}
	return o.ensure(meta, node.Path{{Field: "metadata"}}, "annotations")
}

// references returns the names that $(NAME) refers to in a text, by the rules of a kubelet
// (k8s.io/kubernetes, third_party/forked/golang/expansion).
func references(text string) (names []string) {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '$' {
			continue
		}
		if i++; text[i] != '(' {
			continue // $$ or a plain $
		}
		end := strings.IndexByte(text[i:], ')')
		if end < 0 {
			break
		}
		names = append(names, text[i+1:i+end])
		i += end
	}
	return names
}

// beforeUse places new variables before those of the author's that refer to them: a kubelet
// expands only what is defined before. O(n).
func (o *overlay) beforeUse(list *value, fresh []item, path node.Path) {
	sortEnv(fresh)
	firstUse, defined, names := map[string]int{}, map[string]int{}, []string{}
	for i, e := range list.elements() {
		name := e.str("name")
		names = append(names, name)
		defined[name] = i
		for _, ref := range references(e.str("value")) {
			if _, ok := firstUse[ref]; !ok {
				firstUse[ref] = i
			}
		}
	}
	for k := len(fresh) - 1; k >= 0; k-- {
		use, ok := firstUse[fresh[k].key]
		if !ok || names[use] == "" {
			continue
		}
		fresh[k].order = Order{Before, names[use]}
		for _, ref := range references(fresh[k].v.str("value")) {
			if first, ok := firstUse[ref]; !ok || use < first {
				firstUse[ref] = use
			}
			if at, ok := defined[ref]; ok && at >= use {
				o.warn(path, "%s is used before %s, to which it refers, is defined", fresh[k].key, ref)
			}
		}
	}
}

// sortEnv puts each variable behind those that it refers to, and else leaves the order as
// it is. O(n).
func sortEnv(env []item) {
	at := make(map[string]int, len(env))
	for i, e := range env {
		at[e.key] = i
	}
	out, state := make([]item, 0, len(env)), make([]uint8, len(env))
	var visit func(i int)
	visit = func(i int) {
		if state[i] != 0 {
			return // placed, or a circle
		}
		state[i] = 1
		for _, ref := range references(env[i].v.str("value")) {
			if j, ok := at[ref]; ok {
				visit(j)
			}
		}
		out = append(out, env[i])
	}
	for i := range env {
		visit(i)
	}
	copy(env, out)
}
