import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Content, Reply } from './wire.ts';

const floodChunk = Buffer.alloc(256 * 1024, ' ');
const trickleSteps = 60;

/** Writes a reply exactly as given, even if it breaks HTTP. */
export async function send(response: ServerResponse, reply: Reply): Promise<void> {
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
