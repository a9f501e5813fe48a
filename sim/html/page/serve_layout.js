// Where a cluster's GPUs, switches and links are drawn.

export const SIZE = 720;
const MIDDLE = SIZE / 2;

const onCircle = (x, y, radius, place, all) => {
  const angle = (2 * Math.PI * place) / all - Math.PI / 2;
  return { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
};

// "node0 1->2", "3->130", "nic4 send".
export const parseLink = (name) => {
  const inside = /^node(\d+) (\d+)->(\d+)$/.exec(name);
  if (inside) return { node: +inside[1], from: +inside[2], to: +inside[3] };
  const between = /^(\d+)->(\d+)$/.exec(name);
  if (between) return { node: null, from: +between[1], to: +between[2] };
  const nic = /^nic(\d+) (send|receive)$/.exec(name);
  return nic ? { nic: +nic[1] } : null;
};

// Nodes of a torus as its dimensions say, planes of a third one beside each other; others on a
// circle.
const nodePlaces = (nodes, dims) => {
  if (nodes === 1) return { places: [{ x: MIDDLE, y: MIDDLE }], radius: MIDDLE - 60 };
  const flat = dims && dims.length > 1 && dims.reduce((a, b) => a * b, 1) === nodes;
  if (!flat) {
    const around = MIDDLE - 50;
    const radius = Math.min(70, (0.75 * Math.PI * around) / nodes);
    const places = Array.from({ length: nodes },
      (_, i) => onCircle(MIDDLE, MIDDLE, around - radius / 2, i, nodes));
    return { places, radius };
  }
  const columns = dims[0] * (dims[2] ?? 1);
  const step = (SIZE - 80) / Math.max(columns, dims[1]);
  const left = MIDDLE - ((columns - 1) * step) / 2;
  const top = MIDDLE - ((dims[1] - 1) * step) / 2;
  const places = Array.from({ length: nodes }, (_, i) => ({
    x: left + step * ((i % dims[0]) + dims[0] * Math.floor(i / (dims[0] * dims[1]))),
    y: top + step * (Math.floor(i / dims[0]) % dims[1]),
  }));
  return { places, radius: 0.3 * step };
};

// Switches nearest to endpoints on a ring where their endpoints are; those behind them further in.
const switchPlaces = (links, endpoints, placeOf, x, y, radius) => {
  const places = new Map();
  const neighbours = new Map();
  for (const { from, to } of links) {
    if (to < endpoints) continue;
    if (!neighbours.has(to)) neighbours.set(to, []);
    if (from < endpoints) neighbours.get(to).push(placeOf(from));
  }
  const ids = [...neighbours.keys()].sort((a, b) => a - b);
  const near = ids.filter((id) => neighbours.get(id).length > 0);
  const far = ids.filter((id) => neighbours.get(id).length === 0);
  near.forEach((id) => {
    const of = neighbours.get(id);
    const angle = Math.atan2(of.reduce((sum, one) => sum + one.y - y, 0),
      of.reduce((sum, one) => sum + one.x - x, 0));
    const out = near.length === 1 ? 0 : 0.55 * radius;
    places.set(id, { x: x + out * Math.cos(angle), y: y + out * Math.sin(angle) });
  });
  far.forEach((id, i) =>
    places.set(id, far.length === 1 ? { x, y } : onCircle(x, y, 0.25 * radius, i, far.length)));
  return places;
};

// `links` are names. Vertices have a place, a radius and a name; `ends` gives those of a link.
export const layOut = (links, shape) => {
  const parsed = links.map(parseLink).filter(Boolean);
  const nics = 1 + Math.max(-1, ...parsed.filter((one) => "nic" in one).map((one) => one.nic));
  const { places, radius } = nodePlaces(shape.nodes, shape.dims);
  const per = shape.gpusPerNode;
  const small = Math.max(1.5, Math.min(12, (per > 1 ? 1.6 * radius : radius * 2) / (per + 1)));
  const gpu = (node, i) => per === 1 ? places[node]
    : onCircle(places[node].x, places[node].y, radius, i, per);
  const vertices = [];
  for (let node = 0; node < shape.nodes; ++node) {
    for (let i = 0; i < per; ++i) {
      vertices.push({ ...gpu(node, i), r: small, name: `GPU ${node * per + i}`,
        nic: nics === shape.nodes * per ? node * per + i : null });
    }
  }
  const apart = nics > 0 && nics !== shape.nodes * per;
  const endpoint = (e) => apart || nics === 0
    ? places[Math.floor((e * shape.nodes) / Math.max(nics, shape.nodes))]
    : gpu(Math.floor(e / per), e % per);
  if (apart) {
    for (let e = 0; e < nics; ++e) {
      vertices.push({ ...endpoint(e), r: small, name: `NIC ${e}`, nic: e, square: true });
    }
  }
  const between = parsed.filter((one) => one.node === null);
  const outer = switchPlaces(between, Math.max(nics, 1), endpoint, MIDDLE, MIDDLE, MIDDLE - 50);
  const inner = new Map();
  for (let node = 0; node < shape.nodes; ++node) {
    const own = parsed.filter((one) => one.node === node);
    const { x, y } = places[node];
    inner.set(node, switchPlaces(own, per, (i) => gpu(node, i), x, y, radius));
  }
  const addSwitch = ({ x, y }, id) =>
    vertices.push({ x, y, r: Math.max(3, small), name: `switch ${id}`, nic: null, square: true });
  outer.forEach(addSwitch);
  inner.forEach((own) => own.forEach(addSwitch));
  const place = (one, id) => one.node === null ? outer.get(id) ?? endpoint(id)
    : inner.get(one.node).get(id) ?? gpu(one.node, id);
  return {
    vertices, places, radius: per > 1 && shape.nodes > 1 ? radius + small + 3 : 0,
    ends: (name) => {
      const one = parseLink(name);
      return one && !("nic" in one) ? [place(one, one.from), place(one, one.to)] : null;
    },
    nicOf: (name) => parseLink(name)?.nic ?? null,
  };
};
