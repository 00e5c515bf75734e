// What the page is made of: h() describes an element, patch() makes the page equal to descriptions.
// Elements stay where they are while they are wanted, so that focus, scrolling and sliders survive.
// Texts become text nodes: nothing that comes from data is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "line", "circle", "rect", "text", "title", "defs",
  "pattern", "polygon"]);
// These are set as properties: as attributes they would only say where the element began.
const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "open", "selected"]);

// Describe an element: h("p", {class: "note"}, "text"). Children that are null or false are left out.
export function h(tag, props, ...children) {
  return { tag, props: props || {}, children: children.flat(Infinity).filter(isShown) };
}

// Text that comes from data: what runs from right to left does not turn round what stands beside it.
export function data(text) {
  return h("bdi", {}, text);
}

function isShown(child) {
  return child !== null && child !== undefined && child !== false && child !== "";
}

// Make the children of an element equal to descriptions. Those with a key keep their element
// wherever they move; others keep the element of the same tag.
export function patch(parent, wanted) {
  const old = [...parent.childNodes];
  const keyed = new Map(old.filter((node) => node.key !== undefined).map((n) => [n.key, n]));
  const free = old.filter((node) => node.key === undefined);
  const nodes = wanted.filter(isShown).map((each) => {
    const node = reused(each, keyed, free) || created(each, parent);
    update(node, each);
    return node;
  });
  const kept = new Set(nodes);
  old.filter((node) => !kept.has(node)).forEach((node) => node.remove());
  nodes.forEach((node, i) => {
    if (parent.childNodes[i] !== node) parent.insertBefore(node, parent.childNodes[i] || null);
  });
}

function reused(each, keyed, free) {
  const key = each.props?.key;
  if (key !== undefined) {
    const found = keyed.get(key);
    keyed.delete(key);
    return found?.localName === each.tag ? found : null;
  }
  const at = free.findIndex((node) => fits(node, each));
  return at < 0 ? null : free.splice(0, at + 1)[at];
}

function fits(node, each) {
  return each.tag === undefined ? node.nodeType === Node.TEXT_NODE : node.localName === each.tag;
}

function created(each, parent) {
  if (each.tag === undefined) return document.createTextNode("");
  const inside = parent.namespaceURI === SVG || each.tag === "svg";
  const node = inside && SVG_TAGS.has(each.tag)
    ? document.createElementNS(SVG, each.tag) : document.createElement(each.tag);
  node.key = each.props.key;
  return node;
}

function update(node, each) {
  if (each.tag === undefined) {
    if (node.data !== String(each)) node.data = String(each);
    return;
  }
  const before = node.props || {};
  for (const name of Object.keys(before)) if (!(name in each.props)) set(node, name, null);
  node.props = each.props;
  const entries = Object.entries(each.props);
  // A choice can only be made among options that are there.
  for (const [name, value] of entries) if (name !== "value") set(node, name, value);
  patch(node, each.children);
  if ("value" in each.props) set(node, "value", each.props.value);
}

function set(node, name, value) {
  if (name === "key") return;
  if (name.startsWith("on")) {
    node[name] = value;
  } else if (name === "style") {
    for (const [key, each] of Object.entries(value || {})) node.style.setProperty(key, each);
  } else if (name === "value" && isTyping(node)) {
    return;
  } else if (PROPERTIES.has(name) && node.namespaceURI !== SVG) {
    if (node[name] !== (value ?? "")) node[name] = value ?? "";
  } else if (value === null || value === undefined || value === false) {
    node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) {
    node.setAttribute(name, value === true ? "" : value);
  }
}

// What somebody is typing is not overwritten.
function isTyping(node) {
  const types = ["number", "text", "search", "date", "datetime-local", "password"];
  return node === document.activeElement && types.includes(node.type);
}
