// The TypeScript SDK 2.x as a server of one era or of both: `server.mjs <modern|legacy|both> <name>
// [--http]`. Over HTTP the first line of stdout is the address. PEER_MODULES names the folder of the
// installed packages.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.PEER_MODULES, 'index.js'));
const { NodeStreamableHTTPServerTransport, toNodeHandler } = require('@modelcontextprotocol/node');
const { McpServer, acceptedContent, createMcpHandler, inputRequired, inputResponse } =
  require('@modelcontextprotocol/server');
const { StdioServerTransport, serveStdio } = require('@modelcontextprotocol/server/stdio');
const z = require('zod');

const [era, name, carrier] = process.argv.slice(2);

const PERSON = z.object({ username: z.string(), email: z.string() });

function makeServer() {
  const server = new McpServer({ name, version: '2' });
  server.registerTool('interview', { inputSchema: z.object({ topic: z.string() }) }, interview);
  server.registerTool(
    'add',
    { inputSchema: z.object({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => said(String(a + b)),
  );
  server.registerResource('note', `note://${name}`, {}, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: `a note of ${name}` }],
  }));
  server.registerPrompt('greet', { argsSchema: z.object({ who: z.string() }) }, ({ who }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
  }));
  return server;
}

// Written once for both eras: the modern one carries both questions in one `input_required` result,
// the legacy one makes the SDK send them as requests and enter here again.
async function interview({ topic }, { mcpReq }) {
  const report = (progress) => {
    const { progressToken } = mcpReq._meta ?? {};
    if (progressToken === undefined) return;
    const params = { progressToken, progress, total: 3, message: `step ${progress}` };
    return mcpReq.notify({ method: 'notifications/progress', params });
  };
  const person = acceptedContent(mcpReq.inputResponses, 'person', PERSON);
  const thought = inputResponse(mcpReq.inputResponses, 'thought');
  if (person === undefined || thought.kind !== 'sampling') {
    await report(1);
    return inputRequired({ requestState: `about ${topic}`, inputRequests: questions(topic) });
  }
  await report(2);
  await report(3);
  return said(`${person.username} on ${topic}: ${thought.result.content.text}`);
}

function questions(topic) {
  const content = { type: 'text', text: `Say something about ${topic}.` };
  return {
    person: inputRequired.elicit({ message: 'Who are you?', requestedSchema: PERSON }),
    thought: inputRequired.createMessage({ messages: [{ role: 'user', content }], maxTokens: 50 }),
  };
}

function said(text) {
  return { content: [{ type: 'text', text }] };
}

// The legacy transport has sessions: a server of its own for each.
const sessions = new Map();

async function legacy(request, response) {
  const known = sessions.get(request.headers['mcp-session-id']);
  if (known) return known.handleRequest(request, response);
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await makeServer().connect(transport);
  return transport.handleRequest(request, response);
}

function listen() {
  const posture = era === 'modern' ? { legacy: 'reject' } : {};
  const modern = toNodeHandler(createMcpHandler(makeServer, posture));
  const server = createServer(era === 'legacy' ? legacy : modern);
  server.listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${server.address().port}/mcp`);
  });
}

if (carrier === '--http') listen();
else if (era === 'legacy') await makeServer().connect(new StdioServerTransport());
else serveStdio(makeServer, { legacy: era === 'modern' ? 'reject' : 'serve' });
