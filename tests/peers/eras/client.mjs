// The TypeScript SDK 2.x as a client of one era: plays the plan in argv[2] (see `e2e/plan.rs`; `era`
// says which) and prints one report line. PEER_MODULES names the folder of the installed packages.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.PEER_MODULES, 'index.js'));
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

const plan = JSON.parse(process.argv[2]);
const asked = [];

// A step that hangs is reported like one that failed.
const LIMIT = { timeout: 30_000 };

async function connect() {
  const mode = plan.era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  // A kind of question the plan has no answer for is one this client does not know.
  const { elicitation, sampling } = plan.answers;
  const capabilities = { ...(sampling && { sampling: {} }), ...(elicitation && { elicitation: {} }) };
  const client = new Client(
    { name: 'typescript-peer', version: '2' },
    { capabilities, versionNegotiation: { mode } },
  );
  // Several answers are given one after another, the last of them from then on.
  const answer = (method, replies) => {
    if (!replies) return;
    const left = [replies].flat();
    client.setRequestHandler(method, async ({ params }) => {
      asked.push({ method, params });
      return left.length > 1 ? left.shift() : left[0];
    });
  };
  answer('elicitation/create', elicitation);
  answer('sampling/createMessage', sampling);
  await client.connect(transport());
  tap(client.transport);
  return client;
}

// Every progress report as it came. The SDK forgets a call's `onprogress` as soon as it sees the
// answer, and so loses those that came in the same read, with or without a gateway; and while it
// answers questions it adds reports of its own.
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

const can = {
  // Servers behind a gateway may still be starting when we are already connected.
  async list(client, { until }) {
    for (;;) {
      const tools = (await client.listTools()).tools.map((tool) => tool.name);
      if (until.every((name) => tools.includes(name))) {
        const resources = (await client.listResources()).resources.map((resource) => resource.uri);
        const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
        return { tools, resources, prompts };
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  },
  async call(client, { name, arguments: given }) {
    let handedOn = 0;
    const before = arrived.length;
    const options = { ...LIMIT, onprogress: () => handedOn++ };
    const result = await client.callTool({ name, arguments: given }, options);
    const progress = arrived.slice(before).map(({ progressToken, ...report }) => report);
    if (progress.length > 0 && handedOn === 0) throw new Error('the SDK knew none of the reports');
    return { result, progress };
  },
  read: async (client, { uri }) => ({ result: await client.readResource({ uri }, LIMIT) }),
  prompt: async (client, { name, arguments: given }) => ({
    result: await client.getPrompt({ name, arguments: given }, LIMIT),
  }),
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
const revision = client.getNegotiatedProtocolVersion();
console.log(JSON.stringify({ steps, asked, revision }));
await client.close();
