import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { z } from 'zod';
import type { JsonObject } from '../domain/request.ts';
import { videoExample } from './examples.ts';
import { LocalServerError } from './servers/local-options.ts';

export interface DemoOptions {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly print: (line: string) => void;
}

const deadlineMs = 120_000;
const callbackDeadlineMs = 60_000;
const busyStatus = 503;
const busyMs = 60_000;
const repeatMs = 1_000;
const taskSchema = z.object({
  id: z.string(),
  status: z.enum(['pending', 'submitted', 'running', 'succeeded', 'failed']),
  video_url: z.string().optional(),
  duration: z.number().optional(),
  usage: z.object({ completion_tokens: z.number().optional() }).optional(),
  error: z.object({ message: z.string() }).optional(),
});
const balanceSchema = z.object({ currency: z.string(), available: z.string(), held: z.string() });
const estimateSchema = z.object({ currency: z.string(), hold: z.string(), expected: z.string() });
const texts = z.array(z.string()).default([]);
const modelsSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      capabilities: z.object({
        input_types: texts,
        resolutions: texts,
        ratios: texts,
        durations: z.object({ min: z.number(), max: z.number(), default: z.number().optional() }).optional(),
      }),
    }),
  ),
});

/** One task's life on the terminal, over the public API only. True if the video arrived, was called back and paid for. */
export async function runDemo({ apiUrl, apiKey, print }: DemoOptions): Promise<boolean> {
  const began = Date.now();
  const say = (text: string): void =>
    print(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  const call = createCaller(apiUrl, apiKey);
  const receiver = await startReceiver();
  try {
    const before = balanceSchema.parse(await call('/v1/balance'));
    say(`balance ${before.available} ${before.currency}`);
    const request = await exampleVideo(call);
    const estimate = estimateSchema.parse(await call('/v1/videos/generations/estimate', request));
    const created = taskSchema.parse(
      await call('/v1/videos/generations', { ...request, metadata: { callback_url: receiver.url } }),
    );
    say(`created ${created.id} on ${apiUrl}`);
    say(`held ${estimate.hold} ${estimate.currency} for it: the worst case of this request`);
    const task = await follow(created.id, call, say);
    if (task.status !== 'succeeded' || task.video_url === undefined) {
      say(task.error?.message ?? 'there is no video');
      return false;
    }
    say(`${task.duration ?? '?'} s of video, ${task.usage?.completion_tokens ?? 'no'} tokens`);
    const isVideo = await download(task.video_url, say);
    const callback = await Promise.race([receiver.received, noCallback()]);
    say(callback === undefined ? 'no callback arrived' : `callback arrived, signed: ${callback}`);
    const after = balanceSchema.parse(await call('/v1/balance'));
    say(`balance ${after.available} ${after.currency}, held ${after.held}`);
    return isVideo && callback !== undefined;
  } finally {
    receiver.close();
  }
}

async function exampleVideo(call: Call): Promise<JsonObject> {
  const { data } = modelsSchema.parse(await call('/v1/models'));
  const found = data.find(
    ({ kind, capabilities }) => kind === 'video' && capabilities.input_types.includes('text_to_video'),
  );
  if (found === undefined)
    throw new LocalServerError('The configuration has no model that makes a video from text.');
  return videoExample({ id: found.id, ...found.capabilities });
}

async function download(url: string, say: (text: string) => void): Promise<boolean> {
  const { statusCode, headers, body } = await request(url);
  const bytes = Buffer.from(await body.arrayBuffer());
  say(`downloaded ${bytes.length} bytes of ${String(headers['content-type'])}`);
  return statusCode === 200 && bytes.subarray(4, 8).toString('latin1') === 'ftyp';
}

async function noCallback(): Promise<undefined> {
  await delay(callbackDeadlineMs, undefined, { ref: false });
}

type Call = (path: string, json?: object) => Promise<unknown>;

/** What is busy is asked again, as every caller should: with the same key, so that nothing is created twice. */
function createCaller(apiUrl: string, apiKey: string): Call {
  return async (path, json) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const options =
      json === undefined
        ? ({ method: 'GET', headers } as const)
        : ({ method: 'POST', headers, body: JSON.stringify(json) } as const);
    for (const endsAt = Date.now() + busyMs; ; await delay(repeatMs)) {
      const { statusCode, body } = await request(`${apiUrl}${path}`, options);
      const answer: unknown = await body.json();
      if (statusCode < 300) return answer;
      if (statusCode !== busyStatus || Date.now() > endsAt)
        throw new LocalServerError(`${path} answered ${statusCode}: ${JSON.stringify(answer)}`);
    }
  };
}

async function follow(
  id: string,
  call: Call,
  say: (text: string) => void,
): Promise<z.infer<typeof taskSchema>> {
  let shown = '';
  for (const endsAt = Date.now() + deadlineMs; Date.now() < endsAt;) {
    const task = taskSchema.parse(
      await call(`/v1/videos/generations/${id}${shown === '' ? '' : '?wait=10'}`),
    );
    if (task.status !== shown) say(task.status);
    shown = task.status;
    if (shown === 'succeeded' || shown === 'failed') return task;
  }
  throw new LocalServerError(`task ${id} did not end within ${deadlineMs / 1000} s`);
}

/** A receiver for the callback; resolves with the id that the callback was signed for. */
async function startReceiver() {
  let receive: (id: string) => void = () => undefined;
  const received = new Promise<string>((resolve) => (receive = resolve));
  const server = createServer((incoming, answer) => {
    incoming.resume();
    answer.writeHead(204).end();
    const signed = incoming.headers['webhook-signature'] !== undefined;
    receive(signed ? String(incoming.headers['webhook-id']) : 'no, the signature is missing');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = addressOf(server.address());
  return { url: `http://127.0.0.1:${port}/callback`, received, close: () => server.close() };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the receiver does not listen on TCP');
  return address;
}
