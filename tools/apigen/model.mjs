// Reads one AWS SDK package into a plain model:
//   {name, version, target, apiVersion, xmlNamespace,
//    enums: Map(name -> [{key, value}]), structures: Map(name -> {members, union}),
//    operations: [{name, input, output}], errors: [{name, queryCode, status, server}]}
// A member is {name, type, required, traits, range?}; its traits are {xmlName?, ec2QueryName?,
// xmlFlattened?, xmlAttribute?}, and {itemName?} of a list's elements; a type is a text: "string", "integer", "long",
// "double", "boolean", "timestamp", "blob", "document", "list<T>", "map<T>", or the name of a
// structure or enum.
//
// The schema arrays of dist-es hold names, kinds and which members are required; the .d.ts files
// add which texts are enums. Neither tells an integer from a long or a double: overlay.json does.
import fs from 'node:fs';
import path from 'node:path';

// The numbers are those of @smithy/core/schema.
const simple = {0: 'string', 1: 'number', 2: 'boolean', 4: 'timestamp', 5: 'timestamp',
                6: 'timestamp', 7: 'timestamp', 15: 'document', 21: 'blob'};
const kind = {list: 1, map: 2, structure: 3, union: 4, operation: 9, error: -3, simple: 0};

// Evaluates dist-es/schemas/schemas_0.js without the packages that it imports: they only serve
// its registry of error classes.
function loadSchemas(directory) {
  const text = fs.readFileSync(path.join(directory, 'dist-es/schemas/schemas_0.js'), 'utf8')
                   .replace(/^import .*$/mg, '')
                   .replace(/^\w+_registry\.registerError\(.*$/mg, '')
                   .replace(/^export /mg, '');
  const names = [...text.matchAll(/^var ([\w$]+) =/mg)].map((match) => match[1]);
  const evaluate =
      new Function('TypeRegistry', `"use strict";\n${text}\nreturn {${names.join(', ')}};`);
  return Object.values(evaluate(class {}));
}

// Enum name -> its values, from enums.d.ts.
function loadEnums(directory) {
  const enums = new Map();
  const file = path.join(directory, 'dist-types/models/enums.d.ts');
  if (!fs.existsSync(file)) return enums;
  const text = fs.readFileSync(file, 'utf8');
  for (const [, name, body] of text.matchAll(/export declare const (\w+): \{\n(.*?)\n\};/gs)) {
    const values = [...body.matchAll(/^\s+readonly ["']?([\w.-]+)["']?: "(.*)";$/mg)];
    enums.set(name, values.map(([, key, value]) => ({key, value})));
  }
  return enums;
}

// Structure name -> (member -> {type, optional}) as the .d.ts files write them.
function loadDeclarations(directory) {
  const declarations = new Map();
  const models = path.join(directory, 'dist-types/models');
  for (const file of fs.readdirSync(models).filter((name) => /^models_\d+\.d\.ts$/.test(name))) {
    const text = fs.readFileSync(path.join(models, file), 'utf8').replace(/\/\*\*.*?\*\//gs, '');
    for (const [, name, body] of text.matchAll(/^export interface (\w+)[^{]*\{(.*?)^\}/gms)) {
      const members = new Map();
      for (const [, member, mark, type] of body.matchAll(/^    (\w+)(\??): (.*);$/mg)) {
        members.set(member, {type: type.replace(/ \| undefined$/, ''), optional: mark === '?'});
      }
      declarations.set(name, members);
    }
    for (const [, name, body] of text.matchAll(
             /^export declare namespace (\w+) \{(.*?)^\}/gms)) {
      const members = new Map();  // A union: each alternative is an interface of its own.
      for (const [, member, type] of body.matchAll(/^        (\w+): (.*);$/mg)) {
        if (!type.startsWith('(') && !members.has(member)) {
          members.set(member, {type, optional: true});
        }
      }
      declarations.set(name, members);
    }
  }
  return declarations;
}

// A schema, which may stand behind a function or beside its traits, as a type.
function typeOf(schema) {
  for (;;) {
    if (typeof schema === 'function') schema = schema();
    else if (Array.isArray(schema) && (typeof schema[0] === 'function' || schema.length === 2)) schema = schema[0];
    else break;
  }
  if (typeof schema === 'number') {
    if (schema & 64) return `list<${typeOf(schema & ~64)}>`;
    if (schema & 128) return `map<${typeOf(schema & ~128)}>`;
    if (!(schema in simple)) throw new Error(`unknown simple schema ${schema}`);
    return simple[schema];
  }
  switch (schema[0]) {
    case kind.simple: return typeOf(schema[4]);
    case kind.list: return `list<${typeOf(schema[4])}>`;
    case kind.map: return `map<${typeOf(schema[5])}>`;
    case kind.structure:
    case kind.union: return schema[2];
    default: throw new Error(`unexpected schema ${JSON.stringify(schema)}`);
  }
}

// The traits of a schema that stands beside them; {} of one that stands alone.
function traitsOf(schema) {
  const paired = Array.isArray(schema) && schema.length === 2;
  return paired && typeof schema[1] === 'object' && !Array.isArray(schema[1]) ? schema[1] : {};
}

// What of a member's traits its names depend on.
function namesOf(schema) {
  const {xmlName, ec2QueryName, xmlFlattened, xmlAttribute} = traitsOf(schema);
  const paired = Array.isArray(schema) && (schema.length === 2 || typeof schema[0] === 'function');
  const target = paired ? schema[0] : schema;
  const list = typeof target === 'function' ? target() : undefined;
  const itemName = list?.[0] === kind.list ? traitsOf(list[4]).xmlName : undefined;
  return {xmlName, ec2QueryName, xmlFlattened, xmlAttribute, itemName};
}

// An event stream's union names errors among its events; those travel as exceptions.
function isError(schema) {
  const bare = Array.isArray(schema) && typeof schema[0] === 'function' ? schema[0] : schema;
  return typeof bare === 'function' && bare()[0] === kind.error;
}

// Puts the enum's name, which only the .d.ts knows, in the place of "string".
function withEnum(type, declared, enums) {
  const list = declared.match(/^\(?(.*?)\)?\[\]$/);
  if (list && type.startsWith('list<')) {
    return `list<${withEnum(type.slice(5, -1), list[1], enums)}>`;
  }
  const map = declared.match(/^(?:Partial<)?Record<(.*?), (.*?)>>?$/);
  if (map && type.startsWith('map<')) return `map<${withEnum(type.slice(4, -1), map[2], enums)}>`;
  return type === 'string' && enums.has(declared) ? declared : type;
}

function structureOf(schema, declarations, enums) {
  const [code, , name, , names, types, requiredCount = 0] = schema;
  const declared = declarations.get(name);
  if (!declared) throw new Error(`no .d.ts declaration of ${name}`);
  const members = names.map((member, index) => {
    if (isError(types[index])) return undefined;
    const declaration = declared.get(member);
    if (!declaration) throw new Error(`no .d.ts declaration of ${name}.${member}`);
    const required = code === kind.structure && index < requiredCount;
    if (required && declaration.optional) {
      throw new Error(`${name}.${member}: required in the schema, optional in the .d.ts`);
    }
    return {name: member, type: withEnum(typeOf(types[index]), declaration.type, enums), required,
            traits: namesOf(types[index])};
  }).filter((member) => member !== undefined);
  return {members, union: code === kind.union};
}

function errorOf(schema) {
  const traits = typeof schema[3] === 'object' ? schema[3] : {};
  const server = traits.error === 'server';
  return {
    name: schema[2],
    queryCode: traits.awsQueryError?.[0] ?? schema[2],
    status: traits.httpError ?? traits.awsQueryError?.[1] ?? (server ? 500 : 400),
    server,
  };
}

function protocolSettings(directory) {
  const text = fs.readFileSync(path.join(directory, 'dist-es/runtimeConfig.shared.js'), 'utf8');
  const setting = (name, fallback) => {
    const value = text.match(new RegExp(`\\b${name}: "(.*?)"`))?.[1] ?? fallback;
    if (value === undefined) throw new Error(`${directory}: no protocol setting ${name}`);
    return value;
  };
  return {target: setting('serviceTarget'), apiVersion: setting('version'),
          xmlNamespace: setting('xmlNamespace', '')};
}

// The structure that goes into or comes out of an operation; an empty one of our own where the SDK
// has none ("unit"), so that every operation has both.
function endOf(model, operation, suffix, schema) {
  const target = typeof schema === 'function' ? schema() : schema;
  if (target !== 'unit') return typeOf(target);
  model.structures.set(operation + suffix, {members: [], union: false});
  return operation + suffix;
}

const byName = (left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0);

export function loadModel(directory) {
  const {name, version} = JSON.parse(fs.readFileSync(path.join(directory, 'package.json'), 'utf8'));
  const enums = loadEnums(directory);
  const declarations = loadDeclarations(directory);
  const schemas = loadSchemas(directory).filter(Array.isArray);
  const model = {name, version, ...protocolSettings(directory), enums, structures: new Map(),
                 operations: [], errors: []};
  for (const schema of schemas) {
    if (schema[0] === kind.structure || schema[0] === kind.union) {
      model.structures.set(schema[2], structureOf(schema, declarations, enums));
    } else if (schema[0] === kind.operation) {
      const [, , name, , input, output] = schema;
      model.operations.push({name, input: endOf(model, name, 'Request', input),
                             output: endOf(model, name, 'Response', output)});
    } else if (schema[0] === kind.error && !schema[1].startsWith('smithy.ts.sdk.synthetic')) {
      model.errors.push(errorOf(schema));
    }
  }
  model.operations.sort(byName);
  model.errors.sort(byName);
  return model;
}
