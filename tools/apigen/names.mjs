// The names that a model's members have in the query protocols, besides the one that they have in
// JSON: {form, xml, items} of a member, in a request's form, in a reply's XML, and of the elements
// of a list there. Sources: Smithy 2.0, "AWS query protocol" and "AWS EC2 query protocol".
// What the walkers of src/api/query*.cpp do not know is an error here.

const capitalized = (name) => name[0].toUpperCase() + name.slice(1);
const isList = ({type}) => type.startsWith('list<');

function nameForEc2(member) {
  const {ec2QueryName, xmlName, itemName} = member.traits;
  member.form = ec2QueryName ?? capitalized(xmlName ?? member.name);
  member.xml = xmlName ?? member.name;
  if (isList(member)) member.items = itemName ?? 'member';
}

function checkQuery(structure, member) {
  const {xmlName, itemName} = member.traits;
  if (xmlName || (isList(member) && itemName)) {
    throw new Error(`${structure}.${member.name}: a name of its own in the query protocol`);
  }
}

export function nameMembers(model, protocol) {
  if (protocol === 'Json11') return;
  for (const [name, {members}] of model.structures) {
    for (const member of members) {
      if (member.traits.xmlFlattened || member.traits.xmlAttribute) {
        throw new Error(`${name}.${member.name}: XML traits that are not known here`);
      }
      if (protocol !== 'Ec2Query') checkQuery(name, member);
      else if (/^map<|^list<(list|map)</.test(member.type)) {
        throw new Error(`${name}.${member.name}: ${member.type} in the EC2 protocol`);
      } else nameForEc2(member);
    }
  }
}
