// Registers a task definition that shares a GPU through NVIDIA MPS, runs it, and prints what the API
// says of it: with the npm package @aws-sdk/client-ecs, which knows sharingStrategy.nvidiaMps.
// node share_gpu.mjs FAMILY IMAGE MEMORY PERCENT; the endpoint and the key come from AWS_*.
import { createRequire } from 'node:module';

const require = createRequire(process.env.BERTH_NODE_MODULES + '/');
const {
  DescribeContainerInstancesCommand, DescribeTasksCommand, ECSClient, RegisterTaskDefinitionCommand,
  RunTaskCommand,
} = require('@aws-sdk/client-ecs');

const [family, image, memory, percent] = process.argv.slice(2);
const ecs = new ECSClient({});
const registered = await ecs.send(new RegisterTaskDefinitionCommand({
  family,
  containerDefinitions: [{
    name: 'main', image, memory: 32, essential: true, stopTimeout: 2,
    entryPoint: ['sh', '-c'], command: ['exec sleep 600'],
    resourceRequirements: [{
      type: 'GPU',
      sharingStrategy: { nvidiaMps: { memory: Number(memory), maxComputePercent: Number(percent) } },
    }],
  }],
}));
const ran = await ecs.send(new RunTaskCommand({ taskDefinition: family }));
const tasks = (ran.tasks ?? []).map((task) => task.taskArn);
let described = { tasks: [] };
let instances = { containerInstances: [] };
if (tasks.length > 0) {
  described = await ecs.send(new DescribeTasksCommand({ tasks }));
  instances = await ecs.send(new DescribeContainerInstancesCommand({
    containerInstances: [described.tasks[0].containerInstanceArn],
  }));
}
console.log(JSON.stringify({
  definition: registered.taskDefinition, failures: ran.failures, tasks: described.tasks,
  instances: instances.containerInstances,
}));
