import { createServer, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { png } from '../../test/images/support.ts';
import { listen } from '../../test/support/listen.ts';
import { serve } from '../stand/helper.ts';
import type { VictimReport } from './victim-report.ts';

/**
 * The victim of the attacks, in a process of its own. It creates small tasks, receives their callbacks, reads the last
 * task, stores small files, acts as an operator and requests /healthz, each on a new connection. It starts at the
 * message `begin` and stops at the message `end`, to which it replies with a `VictimReport`.
 */

const order = z.discriminatedUnion('what', [
  z.object({
    what: z.literal('begin'),
    url: z.string(),
    key: z.string(),
    operatorToken: z.string(),
    localAddress: z.string().optional(),
  }),
  z.object({ what: z.literal('end') }),
]);
type Begin = Extract<z.infer<typeof order>, { what: 'begin' }>;

const createEveryMs = 500;
const readEveryMs = 200;
const healthEveryMs = 50;
const answeredWithinMs = 20_000;
const videos = '/v1/videos/generations';
const fileForm = Buffer.concat([
  Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename=a.png\r\n\r\n'),
  png(3, 2),
  Buffer.from('\r\n--x--\r\n'),
]);
const small = { model: 'seedance', prompt: 'a paper boat', duration: 5 };

let running: ReturnType<typeof begin> | undefined;
serve(order, async (given) => {
  if (given.what === 'end') return (await running?.end()) ?? {};
  running = begin(given, await receiver);
  return {};
});

interface Receiver {
  readonly url: string;
  hear: (task: string) => void;
}

const receiver = openReceiver();

async function openReceiver(): Promise<Receiver> {
  const heard: Pick<Receiver, 'hear'> = { hear: () => undefined };
  const server = createServer((received, response) => {
    textOf(received).then(
      (text) => {
        response.end();
        heard.hear(createdId(text) ?? '');
      },
      () => undefined,
    );
  });
  const { url } = await listen(server);
  return Object.assign(heard, { url: `${url}/` });
}

function begin(given: Begin, callbacks: Receiver) {
  const ended = new AbortController();
  const body = JSON.stringify({ ...small, metadata: { callback_url: callbacks.url } });
  const owed = new Map<string, number>();
  callbacks.hear = (task) => {
    const since = owed.get(task);
    if (since === undefined) return;
    owed.delete(task);
    answers.push({ what: 'callback', status: 204, ms: performance.now() - since, text: '' });
  };
  const answers: Answer[] = [];
  const ask = async (asked: Asked): Promise<Answer> => {
    const answer = await call(given, asked);
    answers.push(answer);
    return answer;
  };
  let last: string | undefined;
  const create = async (): Promise<void> => {
    const answer = await ask({ what: 'create', path: videos, text: body });
    const id = createdId(answer.text);
    if (id === undefined) return;
    owed.set(id, performance.now());
    last = id;
  };
  const store = (): Promise<unknown> => ask({ what: 'store', path: '/v1/files', form: fileForm });
  const operate = (): Promise<unknown> =>
    ask({ what: 'operate', path: '/admin/v1/accounts', token: given.operatorToken });
  const read = async (): Promise<void> => {
    if (last !== undefined) await ask({ what: 'read', path: `${videos}/${last}` });
  };
  const health = (): Promise<unknown> => ask({ what: 'healthz', path: '/healthz' });
  const loops = [
    repeat(create, createEveryMs, ended.signal),
    repeat(read, readEveryMs, ended.signal),
    repeat(health, healthEveryMs, ended.signal),
    repeat(store, createEveryMs, ended.signal),
    repeat(operate, createEveryMs, ended.signal),
  ];
  return {
    async end(): Promise<VictimReport> {
      ended.abort();
      await Promise.all(loops);
      const endsAt = performance.now() + answeredWithinMs;
      while (owed.size > 0 && performance.now() < endsAt) await delay(readEveryMs);
      for (const since of owed.values())
        answers.push({ what: 'callback', status: 0, ms: performance.now() - since, text: '' });
      return reportOf(answers);
    },
  };
}

async function repeat(act: () => Promise<unknown>, everyMs: number, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await act();
    await delay(everyMs, undefined, { signal: ended }).catch(() => undefined);
  }
}

function createdId(text: string): string | undefined {
  return /"id":"(task_[^"]+)"/.exec(text)?.[1];
}

interface Answer {
  readonly what: string;
  readonly status: number;
  readonly ms: number;
  readonly text: string;
}

interface Asked {
  readonly what: string;
  readonly path: string;
  readonly text?: string;
  readonly form?: Buffer;
  readonly token?: string;
}

let stoodStillMs = 0;
let lastTurn = performance.now();
const turnEveryMs = 5;
setInterval(() => {
  const now = performance.now();
  stoodStillMs += Math.max(0, now - lastTurn - 2 * turnEveryMs);
  lastTurn = now;
}, turnEveryMs).unref();

function call({ url, key, localAddress }: Begin, asked: Asked): Promise<Answer> {
  const { what, path, text, form, token = key } = asked;
  const sent = text ?? form;
  const mediaType = text === undefined ? 'multipart/form-data; boundary=x' : 'application/json';
  const startedAt = performance.now();
  const stoodStillBefore = stoodStillMs;
  return new Promise((resolve) => {
    const finish = (status: number, answer: string, problem = ''): void => {
      const ms = performance.now() - startedAt - (stoodStillMs - stoodStillBefore);
      resolve({ what: `${what}${problem}`, status, ms: Math.max(0, ms), text: answer });
    };
    const sending = request(`${url}${path}`, {
      method: sent === undefined ? 'GET' : 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        ...(sent === undefined ? {} : { 'content-type': mediaType }),
      },
      signal: AbortSignal.timeout(answeredWithinMs),
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    sending.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => finish(response.statusCode ?? 0, Buffer.concat(chunks).toString()));
      response.on('error', ({ message }) => finish(0, '', ` (${message})`));
    });
    sending.on('error', ({ message }) => finish(0, '', ` (${message})`));
    sending.end(sent);
  });
}

function reportOf(answers: readonly Answer[]): VictimReport {
  const refused = answers.filter(({ status }) => status < 200 || status > 299);
  const timed = answers.filter(({ what }) => what !== 'callback');
  const slowest = (some: readonly Answer[]): Answer | undefined => some.toSorted((a, b) => b.ms - a.ms)[0];
  const { status, ms, what } = slowest(refused) ?? slowest(timed) ?? { status: 0, ms: 0, what: 'nothing' };
  return {
    worst: { status, ms, what },
    refused: refused.length,
    answered: answers.length,
    medianMs: timed.toSorted((a, b) => a.ms - b.ms)[Math.floor(timed.length / 2)]?.ms ?? 0,
    callbackMs: slowest(answers.filter(({ what }) => what === 'callback'))?.ms ?? 0,
    healthMs: slowest(answers.filter((answer) => answer.what === 'healthz'))?.ms ?? 0,
  };
}
