// Lays overlay.json over a model: what the SDK does not tell, and what Berth adds.
// Every entry must name something that exists (or, for additions, that does not): an SDK update
// that makes an entry stale fails here.

function memberOf(model, structureName, memberName) {
  const structure = model.structures.get(structureName);
  const member = structure?.members.find(({name}) => name === memberName);
  if (!member) throw new Error(`overlay: no member ${structureName}.${memberName}`);
  return member;
}

// "Structure.member", or "*.member" for every structure that has one of a fitting type.
function membersOf(model, pattern, fits) {
  const [structureName, memberName] = pattern.split('.');
  if (structureName !== '*') return [memberOf(model, structureName, memberName)];
  const found = [...model.structures.values()]
                    .flatMap(({members}) => members)
                    .filter((member) => member.name === memberName && fits(member));
  if (found.length === 0) throw new Error(`overlay: nothing matches ${pattern}`);
  return found;
}

function setNumbers(model, overlay) {
  for (const [kind, patterns] of Object.entries(overlay.numbers ?? {})) {
    for (const pattern of patterns) {
      for (const member of membersOf(model, pattern, ({type}) => type.includes('number'))) {
        if (!member.type.includes('number')) throw new Error(`overlay: ${pattern} is no number`);
        member.type = member.type.replace('number', kind);
      }
    }
  }
  for (const {members} of model.structures.values()) {
    for (const member of members) member.type = member.type.replace('number', 'integer');
  }
}

function addShapes(model, overlay) {
  for (const [name, members] of Object.entries(overlay.shapes ?? {})) {
    if (model.structures.has(name)) throw new Error(`overlay: the SDK has a shape ${name} now`);
    model.structures.set(name, {members: [], union: false});
    addMembers(model, {[name]: members});
  }
}

function addMembers(model, additions) {
  for (const [structureName, members] of Object.entries(additions ?? {})) {
    const structure = model.structures.get(structureName);
    if (!structure) throw new Error(`overlay: no shape ${structureName}`);
    for (const [name, type] of Object.entries(members)) {
      if (structure.members.some((member) => member.name === name)) {
        throw new Error(`overlay: the SDK has a member ${structureName}.${name} now`);
      }
      structure.members.push({name, type, required: false, traits: {}});
    }
  }
}

function setRanges(model, overlay) {
  for (const [pattern, [min, max]] of Object.entries(overlay.ranges ?? {})) {
    for (const member of membersOf(model, pattern, () => true)) member.range = {min, max};
  }
}

// Members that people write by mistake: read whatever they hold, so that an action can refuse them
// by name instead of dropping them in silence.
function addMistakes(model, overlay) {
  for (const [structureName, names] of Object.entries(overlay.mistakes ?? {})) {
    addMembers(model, {[structureName]: Object.fromEntries(names.map((name) => [name, 'document']))});
  }
}

function setHints(model, overlay) {
  for (const [pattern, hint] of Object.entries(overlay.hints ?? {})) {
    for (const member of membersOf(model, pattern, () => true)) member.hint = hint;
  }
}

// Members that are never read or printed: the whole of which they are a part is refused.
function omitMembers(model, overlay) {
  for (const pattern of overlay.omitted ?? []) {
    const member = memberOf(model, ...pattern.split('.'));
    const structure = model.structures.get(pattern.split('.')[0]);
    structure.members = structure.members.filter((each) => each !== member);
  }
}

// Enums of which values that the SDK does not know are taken, too.
function openEnums(model, overlay) {
  for (const name of overlay.texts ?? []) {
    if (!model.enums.delete(name)) throw new Error(`overlay: no enum ${name}`);
    for (const {members} of model.structures.values()) {
      for (const member of members) {
        member.type = member.type.replace(new RegExp(`\\b${name}\\b`), 'string');
      }
    }
  }
}

// Of a service of which Berth offers a part: those operations and errors, and what they are made of.
function keepPart(model, overlay) {
  for (const [kind, names] of [['operations', overlay.operations], ['errors', overlay.errors]]) {
    if (!names) continue;
    const unknown = names.find((name) => !model[kind].some((each) => each.name === name));
    if (unknown) throw new Error(`overlay: the SDK has no ${unknown} among the ${kind}`);
    model[kind] = model[kind].filter(({name}) => names.includes(name));
  }
  if (!overlay.operations) return;
  const kept = new Set();
  const keep = (type) => {
    const name = type.replace(/^((list|map)<)+/, '').replace(/>+$/, '');
    if (kept.has(name)) return;
    kept.add(name);
    for (const member of model.structures.get(name)?.members ?? []) keep(member.type);
  };
  for (const {input, output} of model.operations) [input, output].forEach(keep);
  for (const all of [model.structures, model.enums]) {
    for (const name of [...all.keys()].filter((each) => !kept.has(each))) all.delete(name);
  }
}

export function applyOverlay(model, overlay) {
  omitMembers(model, overlay);
  openEnums(model, overlay);
  keepPart(model, overlay);
  setNumbers(model, overlay);
  addShapes(model, overlay);
  addMembers(model, overlay.members);
  addMistakes(model, overlay);
  setRanges(model, overlay);
  setHints(model, overlay);
}
