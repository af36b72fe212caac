// The TypeScript SDK 1.x as a peer: plays the plan in argv[2] (see `e2e/plan.rs`) and prints one
// report line. PEER_MODULES names the folder of the installed packages.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.PEER_MODULES, 'index.js'));
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = require('@modelcontextprotocol/sdk/types.js');

const plan = JSON.parse(process.argv[2]);
const asked = [];

async function connect() {
  const capabilities = { sampling: {}, elicitation: {}, roots: {} };
  const client = new Client({ name: 'typescript-peer', version: '1' }, { capabilities });
  const answer = (schema, reply) =>
    client.setRequestHandler(schema, async ({ method, params }) => {
      asked.push({ method, params });
      return reply;
    });
  answer(types.ElicitRequestSchema, plan.answers.elicitation);
  answer(types.CreateMessageRequestSchema, plan.answers.sampling);
  answer(types.ListRootsRequestSchema, { roots: [] });
  await client.connect(transport());
  tap(client.transport);
  return client;
}

// Every progress report as it came. The SDK forgets a call's `onprogress` as soon as it sees the
// answer, and so loses a report that came in the same read, with or without a gateway.
const arrived = [];

function tap(transport) {
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    if (message.method === 'notifications/progress') arrived.push(message.params);
    onmessage(message, extra);
  };
}

function transport() {
  if (plan.http) return new StreamableHTTPClientTransport(new URL(plan.http));
  const [command, ...args] = plan.stdio;
  return new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' });
}

async function everyPage(fetch, member) {
  const all = [];
  let cursor;
  do {
    const page = await fetch(cursor === undefined ? {} : { cursor });
    all.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

// Servers behind a gateway may still be starting when we are already connected.
async function toolsOnce(client, wanted) {
  for (;;) {
    const names = (await everyPage((p) => client.listTools(p), 'tools')).map((t) => t.name);
    if (wanted.every((name) => names.includes(name))) return names;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const can = {
  async list(client, { until }) {
    const { resources, prompts } = client.getServerCapabilities();
    return {
      tools: await toolsOnce(client, until),
      resources: resources
        ? (await everyPage((p) => client.listResources(p), 'resources')).map((r) => r.uri)
        : [],
      prompts: prompts
        ? (await everyPage((p) => client.listPrompts(p), 'prompts')).map((p) => p.name)
        : [],
    };
  },
  async call(client, step) {
    let handedOn = 0;
    const onprogress = () => handedOn++;
    const request = { name: step.name, arguments: step.arguments };
    const before = arrived.length;
    const result = await client.callTool(request, undefined, { onprogress });
    const progress = arrived.slice(before).map(({ progressToken, ...report }) => report);
    if (handedOn < progress.length - 1) {
      throw new Error(`${progress.length} reports came, and the SDK knew ${handedOn} of them`);
    }
    return { result, progress };
  },
  read: async (client, step) => ({ result: await client.readResource({ uri: step.uri }) }),
  prompt: async (client, step) => ({
    result: await client.getPrompt({ name: step.name, arguments: step.arguments }),
  }),
  async cancel(client, step) {
    const stop = new AbortController();
    const request = { name: step.name, arguments: step.arguments };
    const onprogress = () => stop.abort('enough');
    const call = client.callTool(request, undefined, { signal: stop.signal, onprogress });
    const patience = setTimeout(() => stop.abort('enough'), step.after);
    return call
      .then(
        (result) => ({ cancelled: false, result }),
        () => ({ cancelled: stop.signal.aborted }),
      )
      .finally(() => clearTimeout(patience));
  },
};

async function play(client, step) {
  try {
    return await can[step.do](client, step);
  } catch (error) {
    return { error: { code: error.code, message: error.message } };
  }
}

const client = await connect();
const steps = [];
for (const step of plan.steps) steps.push(await play(client, step));
console.log(JSON.stringify({ steps, asked, server: client.getServerVersion() }));
await client.close();
