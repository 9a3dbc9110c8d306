import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { z } from 'zod';
import type { LocalSettings } from '../config/local-settings.ts';

export interface DemoOptions {
  readonly apiUrl: string;
  readonly settings: LocalSettings;
  readonly print: (line: string) => void;
}

const deadlineMs = 120_000;
const taskSchema = z.object({
  id: z.string(),
  status: z.enum(['pending', 'submitted', 'running', 'succeeded', 'failed']),
  video_url: z.string().optional(),
  duration: z.number().optional(),
  usage: z.object({ completion_tokens: z.number() }).optional(),
});
const balanceSchema = z.object({ currency: z.string(), available: z.string(), held: z.string() });

/** One task's life on the terminal, over the public API only. True if the video arrived, was called back and paid for. */
export async function runDemo({ apiUrl, settings, print }: DemoOptions): Promise<boolean> {
  const began = Date.now();
  const say = (text: string): void =>
    print(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  const call = createCaller(apiUrl, settings.apiKey ?? '');
  const receiver = await startReceiver();
  try {
    const before = balanceSchema.parse(await call('/v1/balance'));
    say(`balance ${before.available} ${before.currency}`);
    const created = taskSchema.parse(
      await call('/v1/videos/generations', {
        model: 'seedance-2.0',
        prompt: 'a paper boat on a rainy street',
        duration: 5,
        resolution: '720p',
        ratio: '16:9',
        metadata: { callback_url: receiver.url },
      }),
    );
    say(`created ${created.id}`);
    const held = balanceSchema.parse(await call('/v1/balance'));
    say(`held ${held.held} ${held.currency}: the worst case of this request`);
    const task = await follow(created.id, call, say);
    if (task.status !== 'succeeded' || task.video_url === undefined) return false;
    say(`${task.duration} s of video, ${task.usage?.completion_tokens} tokens`);
    const video = await request(task.video_url);
    const bytes = Buffer.from(await video.body.arrayBuffer());
    say(`downloaded ${bytes.length} bytes of ${String(video.headers['content-type'])}`);
    const callback = await receiver.received;
    say(`callback arrived, signed: ${callback}`);
    const after = balanceSchema.parse(await call('/v1/balance'));
    say(`balance ${after.available} ${after.currency}, held ${after.held}`);
    return (
      video.statusCode === 200 &&
      bytes.subarray(4, 8).toString('latin1') === 'ftyp' &&
      after.held === before.held
    );
  } finally {
    receiver.close();
  }
}

type Call = (path: string, json?: object) => Promise<unknown>;

function createCaller(apiUrl: string, apiKey: string): Call {
  return async (path, json) => {
    const { statusCode, body } = await request(`${apiUrl}${path}`, {
      method: json === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const answer: unknown = await body.json();
    if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${JSON.stringify(answer)}`);
    return answer;
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
  throw new Error(`task ${id} did not end within ${deadlineMs / 1000} s`);
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
