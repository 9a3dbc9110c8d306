import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

export interface UiProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * These buttons start, end or repeat a task without the ledger's knowledge. docker-compose.yml disables the same
 * buttons.
 */
const switchedOff = {
  StartWorkflowDisabled: true,
  WorkflowTerminateDisabled: true,
  WorkflowResetDisabled: true,
  BatchActionsDisabled: true,
} as const;

const settingsPath = '/api/v1/settings';
/**
 * The requests that these buttons send. Resetting, pausing and unpausing an activity use longer paths and stay allowed.
 */
const refusedPath =
  /^\/api\/v1\/namespaces\/[^/]+\/(?:workflows\/[^/]+(?:\/(?:terminate|reset))?|batch-operations\/[^/]+)$/;

const settingsSchema = z.looseObject({});

/**
 * The dev server's built-in UI cannot disable buttons. This proxy changes the UI's settings as docker-compose.yml
 * would, rejects the requests of disabled buttons, and passes on everything else. It only prevents accidents, because
 * the dev server's own port has no password.
 */
export async function startUiProxy(target: string, port: number): Promise<UiProxy> {
  const server = createServer((incoming, answer) => {
    forward(incoming, answer, target).catch(() => fail(answer));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // If a connection cannot be accepted, one page load fails, but the process must not crash.
  server.on('error', () => undefined);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function forward(incoming: IncomingMessage, answer: ServerResponse, target: string): Promise<void> {
  const { method = 'GET', url = '/' } = incoming;
  const [path = ''] = url.split('?');
  if (method === 'POST' && refusedPath.test(path)) return refuse(incoming, answer);
  const isSettings = method === 'GET' && path === settingsPath;
  const outgoing = request(target, {
    path: url,
    method,
    headers: isSettings ? { ...passed(incoming), 'accept-encoding': 'identity' } : passed(incoming),
    agent: false,
  });
  // If the browser disconnects early, cancel the request to the UI.
  answer.once('close', () => outgoing.destroy());
  const [, found] = await Promise.all([pipeline(incoming, outgoing), answerOf(outgoing)]);
  if (isSettings && found.statusCode === 200) await answerSettings(found, answer);
  else {
    answer.writeHead(found.statusCode ?? 502, passed(found));
    await pipeline(found, answer);
  }
}

function answerOf(outgoing: ReturnType<typeof request>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
}

async function answerSettings(found: IncomingMessage, answer: ServerResponse): Promise<void> {
  const settings = settingsSchema.parse(JSON.parse(await text(found)));
  const body = JSON.stringify({ ...settings, ...switchedOff });
  answer.writeHead(200, { ...passed(found), 'content-length': Buffer.byteLength(body) }).end(body);
}

function passed({ headers }: IncomingMessage): OutgoingHttpHeaders {
  const { connection: _connection, 'keep-alive': _keepAlive, ...rest } = headers;
  return rest;
}

function refuse(incoming: IncomingMessage, answer: ServerResponse): void {
  incoming.resume();
  const message =
    'This action is switched off here, because it would bypass the ledger. Use an update on the task’s page, or `gateway tasks action`.';
  answer.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
}

function fail(answer: ServerResponse): void {
  if (answer.headersSent) {
    answer.destroy();
    return;
  }
  const message = 'The Temporal UI does not respond. Its server may be restarting.';
  answer.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
}
