import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { z } from 'zod';
import { createClient, type Client, type VideoTask } from '../client/client.ts';
import { messageOf } from '../base/caught.ts';
import { videoExample } from './examples.ts';
import { LocalServerError } from './servers/local-options.ts';

export interface DemoOptions {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly print: (line: string) => void;
}

const deadlineMs = 120_000;
const callbackDeadlineMs = 60_000;
/** The delay doubles with each retry, so seven retries take about a minute. */
const retries = 7;
const texts = z.array(z.string()).default([]);
const capabilitiesSchema = z.object({
  input_types: texts,
  resolutions: texts,
  ratios: texts,
  durations: z.object({ min: z.number(), max: z.number(), default: z.number().optional() }).optional(),
});

/**
 * Renders a video, using only the public API. Returns true if the video and the callback arrived and the video was
 * charged.
 */
export async function runDemo({ apiUrl, apiKey, print }: DemoOptions): Promise<boolean> {
  const began = Date.now();
  const say = (text: string): void =>
    print(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  const client = createClient({ baseUrl: apiUrl, apiKey, retries });
  const receiver = await startReceiver();
  try {
    const before = await client.balance();
    say(`balance ${before.available} ${before.currency}`);
    const request = await exampleVideo(client);
    const estimate = await client.videos.estimate(request);
    const created = await client.videos.create({ ...request, metadata: { callback_url: receiver.url } });
    say(`created ${created.id} on ${apiUrl}`);
    say(`held ${estimate.hold} ${estimate.currency} for the task: the worst case of this request`);
    const task = await follow(created.id, client, say);
    if (task.status === 'failed') {
      say(task.error.message);
      return false;
    }
    say(`${task.duration} s of video, ${task.usage.completion_tokens || 'no'} tokens`);
    const isVideo = await download(task.video_url, say);
    const callback = await Promise.race([receiver.received, noCallback()]);
    say(callback === undefined ? 'no callback arrived' : `callback arrived, signed: ${callback}`);
    const after = await client.balance();
    say(`balance ${after.available} ${after.currency}, held ${after.held}`);
    return isVideo && callback !== undefined;
  } catch (error) {
    throw new LocalServerError(messageOf(error), { cause: error });
  } finally {
    receiver.close();
  }
}

async function exampleVideo(client: Client) {
  for (const { id, kind, capabilities } of (await client.models()).data) {
    const known = capabilitiesSchema.parse(capabilities);
    if (kind === 'video' && known.input_types.includes('text_to_video'))
      return videoExample({ id, ...known });
  }
  throw new LocalServerError('The configuration has no model that makes a video from text.');
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

async function follow(id: string, { videos }: Client, say: (text: string) => void) {
  const signal = AbortSignal.timeout(deadlineMs);
  let shown = '';
  const onAnswer = ({ status }: VideoTask): void => {
    if (status !== shown) say(status);
    shown = status;
  };
  return videos.wait(id, { signal, onAnswer }).catch((cause: unknown) => {
    if (!signal.aborted) throw cause;
    throw new LocalServerError(`task ${id} did not end within ${deadlineMs / 1000} s`, { cause });
  });
}

/**
 * Listens for callbacks. `received` resolves to the id of the first one or, if it is unsigned, to a text that says so.
 */
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
