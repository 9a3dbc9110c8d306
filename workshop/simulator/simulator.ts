import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallbackSender } from './callbacks.ts';
import { Clock, type Now } from './clock.ts';
import { controlPrefix, createControl, handleControl, type Control } from './control.ts';
import type { CreateDialect, Dialect } from './dialect.ts';
import { dialects } from './dialects.ts';
import { disturb } from './disturb.ts';
import { FaultSet, UnknownFault } from './fault.ts';
import { FaultBook } from './fault-book.ts';
import { mediaPrefix, MediaShelf, refused } from './media/media-shelf.ts';
import { StateFile } from './state-file.ts';
import { Statistics } from './statistics.ts';
import { json, type Content, type Reply, type WireRequest } from './wire.ts';
import { World } from './world.ts';

export interface SimulatorOptions {
  readonly host: string;
  readonly port: number;
  readonly apiKeys?: readonly string[];
  /** The time from create to success, in seconds. An eighth of it is spent in the queue. Defaults to 8. */
  readonly renderSeconds?: number;
  readonly clock?: Now;
  readonly report?: (message: string) => void;
  readonly stateFile?: string;
  readonly jobsAtOnceMax?: number;
  /** The maximum number of tasks per dialect. Beyond it, the oldest finished tasks are removed. */
  readonly tasksMax?: number;
  readonly moreDialects?: readonly CreateDialect[];
  readonly publicUrl?: string;
}

export interface Simulator {
  readonly url: string;
  readonly port: number;
  readonly control: Control;
  close(): Promise<void>;
}

const renderSecondsDefault = 8;
const tasksMaxDefault = 100_000;
const bodyBytesMax = 96 * 1024 * 1024;
const keepAliveTimeoutMs = 60_000;
const floodChunk = Buffer.alloc(256 * 1024, ' ');
const trickleSteps = 60;

/** Starts a server that responds like the providers in docs/providers.md, with the requested faults. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const report = options.report ?? (() => undefined);
  const statistics = new Statistics();
  const stateFile = options.stateFile === undefined ? undefined : new StateFile(options.stateFile);
  const clock = new Clock(options.clock ?? Date.now);
  const callbacks = new CallbackSender(statistics, report);
  const world = new World({
    clock,
    faults: new FaultBook(),
    statistics,
    media: new MediaShelf(),
    callbacks,
    apiKeys: options.apiKeys,
    tasksMax: options.tasksMax ?? tasksMaxDefault,
    jobsAtOnceMax: options.jobsAtOnceMax,
    stateFile,
    renderSeconds: options.renderSeconds ?? renderSecondsDefault,
    origin: options.publicUrl ?? '',
  });
  const control = createControl(world);
  // Sort the dialects by prefix, longest first, because one dialect's prefix may be the beginning of another's.
  const spoken = [...dialects, ...(options.moreDialects ?? [])];
  const table = spoken.map((create) => create(world)).toSorted((a, b) => b.prefix.length - a.prefix.length);
  stateFile?.rewrite();
  const answer = (request: WireRequest): Reply | Promise<Reply> => route(world, control, table, request);
  const server = createServer((request, response) => {
    void exchange(request, response, answer, report);
  });
  server.keepAliveTimeout = keepAliveTimeoutMs;
  const port = await listen(server, options.port, options.host);
  const url = `http://${options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host}:${port}`;
  if (options.publicUrl === undefined) world.parts.origin = url;
  return {
    url,
    port,
    control,
    async close() {
      clock.close();
      await callbacks.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      stateFile?.close();
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

async function exchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: (request: WireRequest) => Reply | Promise<Reply>,
  report: (message: string) => void,
): Promise<void> {
  try {
    const body = await readBody(incoming);
    const [path = '', search] = (incoming.url ?? '/').split(/\?(.*)/s);
    const { method = 'GET', headers } = incoming;
    const tooLarge = { error: { code: 'RequestTooLarge', message: 'The request body is too large.' } };
    const reply =
      body === undefined
        ? json(413, tooLarge)
        : await answer({ method, path, query: new URLSearchParams(search), headers, body });
    await send(response, reply);
  } catch (error) {
    report(`simulator: ${error instanceof Error ? error.message : 'unknown error'}`);
    response.destroy();
  }
}

/** If the body exceeds the limit, the rest is read and discarded, and the result is undefined. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    const bytes: unknown = chunk;
    if (!Buffer.isBuffer(bytes)) continue;
    length += bytes.length;
    if (length <= bodyBytesMax) chunks.push(bytes);
  }
  return length > bodyBytesMax ? undefined : Buffer.concat(chunks);
}

async function route(
  world: World,
  control: Control,
  table: readonly Dialect[],
  request: WireRequest,
): Promise<Reply> {
  const below = (prefix: string): WireRequest => ({ ...request, path: request.path.slice(prefix.length) });
  if (request.path.startsWith(`${controlPrefix}/`)) return handleControl(control, below(controlPrefix));
  if (request.path.startsWith(`${mediaPrefix}/`)) return serveMedia(world, below(mediaPrefix));
  const dialect = table.find(({ prefix }) => request.path.startsWith(`${prefix}/`));
  if (dialect === undefined)
    return json(404, { error: { code: 'NotFound', message: 'No dialect has this path.' } });
  try {
    return await dialect.handle(below(dialect.prefix));
  } catch (error) {
    if (!(error instanceof UnknownFault)) throw error;
    // Report a misspelt fault to whoever wrote it.
    const { message } = error;
    return json(400, { error: { code: 'SimulatorUnknownFault', message, param: '', type: 'BadRequest' } });
  }
}

function serveMedia(world: World, request: WireRequest): Promise<Reply> {
  const { statistics, media } = world.parts;
  statistics.count('media');
  const inLink = request.query.get('x-simulate');
  const faults = FaultSet.of(inLink?.split(','));
  const serve = () => media.serve(request, world.now());
  return disturb(faults, () => refused('AccessDenied'), serve);
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  switch (reply.kind) {
    case 'send':
      response.writeHead(reply.status, { ...reply.headers, 'content-length': reply.body.length });
      response.end(reply.body);
      return;
    case 'drop':
      if (reply.afterMs > 0) await sleep(reply.afterMs, undefined, { ref: false });
      response.socket?.resetAndDestroy();
      return;
    case 'trickle':
      await trickle(response, reply, reply.durationMs);
      return;
    case 'flood':
      await flood(response, reply, reply.totalBytes);
  }
}

async function trickle(response: ServerResponse, content: Content, durationMs: number): Promise<void> {
  response.writeHead(content.status, { ...content.headers, 'content-length': content.body.length });
  const step = Math.max(1, Math.ceil(content.body.length / trickleSteps));
  const pauseMs = durationMs / Math.ceil(content.body.length / step);
  for (let from = 0; from < content.body.length && !response.destroyed; from += step) {
    response.write(content.body.subarray(from, from + step));
    await sleep(pauseMs, undefined, { ref: false });
  }
  response.end();
}

async function flood(response: ServerResponse, content: Content, totalBytes: number): Promise<void> {
  response.writeHead(content.status, content.headers);
  response.write(content.body);
  const closed = once(response, 'close');
  for (let sent = content.body.length; sent < totalBytes && !response.destroyed; sent += floodChunk.length) {
    if (!response.write(floodChunk)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}
