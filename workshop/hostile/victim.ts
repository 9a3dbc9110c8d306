import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { serve } from './helper.ts';
import type { VictimReport } from './victim-report.ts';

/**
 * Somebody else, in a process of its own: creates small tasks, reads the last one and asks for /healthz, each on a new
 * connection, from the order `begin` until the order `end`, which it answers with a `VictimReport`.
 */

const order = z.discriminatedUnion('what', [
  z.object({
    what: z.literal('begin'),
    url: z.string(),
    key: z.string(),
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
const body = JSON.stringify({ model: 'seedance', prompt: 'a paper boat', duration: 5 });

let running: ReturnType<typeof begin> | undefined;
serve(order, async (given) => {
  if (given.what === 'end') return (await running?.end()) ?? {};
  running = begin(given);
  return {};
});

function begin(given: Begin) {
  const ended = new AbortController();
  const answers: Answer[] = [];
  const ask = async (asked: Asked): Promise<Answer> => {
    const answer = await call(given, asked);
    answers.push(answer);
    return answer;
  };
  let last: string | undefined;
  const create = async (): Promise<void> => {
    const answer = await ask({ what: 'create', path: videos, text: body });
    last = createdId(answer.text) ?? last;
  };
  const read = async (): Promise<void> => {
    if (last !== undefined) await ask({ what: 'read', path: `${videos}/${last}` });
  };
  const health = (): Promise<unknown> => ask({ what: 'healthz', path: '/healthz' });
  const loops = [
    repeat(create, createEveryMs, ended.signal),
    repeat(read, readEveryMs, ended.signal),
    repeat(health, healthEveryMs, ended.signal),
  ];
  return {
    async end(): Promise<VictimReport> {
      ended.abort();
      await Promise.all(loops);
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
  /** 0: none. */
  readonly status: number;
  readonly ms: number;
  readonly text: string;
}

interface Asked {
  readonly what: string;
  readonly path: string;
  /** Present: it is posted. */
  readonly text?: string;
}

/** How long this process itself stood still, in all. */
let stoodStillMs = 0;
let lastTurn = performance.now();
const turnEveryMs = 5;
setInterval(() => {
  const now = performance.now();
  stoodStillMs += Math.max(0, now - lastTurn - 2 * turnEveryMs);
  lastTurn = now;
}, turnEveryMs).unref();

function call({ url, key, localAddress }: Begin, { what, path, text }: Asked): Promise<Answer> {
  const startedAt = performance.now();
  const stoodStillBefore = stoodStillMs;
  return new Promise((resolve) => {
    const finish = (status: number, answer: string, problem = ''): void => {
      const ms = performance.now() - startedAt - (stoodStillMs - stoodStillBefore);
      resolve({ what: `${what}${problem}`, status, ms: Math.max(0, ms), text: answer });
    };
    const sending = request(`${url}${path}`, {
      method: text === undefined ? 'GET' : 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
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
    sending.end(text);
  });
}

function reportOf(answers: readonly Answer[]): VictimReport {
  const refused = answers.filter(({ status }) => status < 200 || status > 299);
  const slowest = (some: readonly Answer[]): Answer | undefined => some.toSorted((a, b) => b.ms - a.ms)[0];
  const { status, ms, what } = slowest(refused) ?? slowest(answers) ?? { status: 0, ms: 0, what: 'nothing' };
  return {
    worst: { status, ms, what },
    refused: refused.length,
    answered: answers.length,
    medianMs: answers.toSorted((a, b) => a.ms - b.ms)[Math.floor(answers.length / 2)]?.ms ?? 0,
    healthMs: slowest(answers.filter((answer) => answer.what === 'healthz'))?.ms ?? 0,
  };
}
