// Generates src/api/generated/ from the AWS SDK packages that package.json pins and overlay.json.
//   npm ci --ignore-scripts && node apigen.mjs             writes the files
//   npm ci --ignore-scripts && node apigen.mjs --check     exits with 1 where a file differs
//   --packages DIR                                          takes the SDK from DIR/@aws-sdk/...
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

import {header, source} from './cpp.mjs';
import {loadModel} from './model.mjs';
import {nameMembers} from './names.mjs';
import {applyOverlay} from './overlay.mjs';

const services = {
  autoscaling: {package: '@aws-sdk/client-auto-scaling', protocol: 'Query'},
  ec2: {package: '@aws-sdk/client-ec2', protocol: 'Ec2Query'},
  ecs: {package: '@aws-sdk/client-ecs', protocol: 'Json11'},
  logs: {package: '@aws-sdk/client-cloudwatch-logs', protocol: 'Json11'},
  secretsmanager: {package: '@aws-sdk/client-secrets-manager', protocol: 'Json11'},
  ssm: {package: '@aws-sdk/client-ssm', protocol: 'Json11'},
  sts: {package: '@aws-sdk/client-sts', protocol: 'Query'},
};

const here = path.dirname(fileURLToPath(import.meta.url));
const output = path.join(here, '../../src/api/generated');
const {values: options} = parseArgs({
  options: {check: {type: 'boolean'}, packages: {type: 'string'}},
});
const packages = options.packages ?? path.join(here, 'node_modules');
const pinned = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8')).devDependencies;
const overlay = JSON.parse(fs.readFileSync(path.join(here, 'overlay.json'), 'utf8'));

function generate(name, service) {
  const model = loadModel(path.join(packages, service.package));
  if (model.version !== pinned[service.package]) {
    throw new Error(`${service.package} is ${model.version}, package.json pins ${
        pinned[service.package]}: run npm ci --ignore-scripts`);
  }
  applyOverlay(model, overlay[name] ?? {});
  nameMembers(model, service.protocol);
  return {[`${name}.h`]: header(model, name), [`${name}.cpp`]: source(model, name, service)};
}

let differing = 0;
for (const [name, service] of Object.entries(services)) {
  for (const [file, text] of Object.entries(generate(name, service))) {
    const target = path.join(output, file);
    const current = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : '';
    if (current === text) continue;
    ++differing;
    if (options.check) console.error(`${target} differs from what apigen makes: run node apigen.mjs`);
    else fs.writeFileSync(target, text);
  }
}
if (options.check && differing > 0) process.exitCode = 1;
