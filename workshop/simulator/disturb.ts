import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { FaultSet } from './fault.ts';
import { bytes, type Content, type Reply } from './wire.ts';

export type Problem =
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'rate-limited'
  | 'quota-exhausted'
  | 'moderated'
  | 'internal'
  | 'unavailable';

export type ProblemReplies = (problem: Problem) => Reply;

const mebibyte = 1024 * 1024;

export async function disturb(
  faults: FaultSet,
  problems: ProblemReplies,
  act: () => Reply | Promise<Reply>,
): Promise<Reply> {
  if (faults.all.length === 0) return act();
  if (faults.has('slow')) await pause(faults.number('slow') ?? 2);
  const refused = first(faults, refusals);
  if (refused !== undefined) return refused(faults, problems);
  const reply = await act();
  if (reply.kind !== 'send') return reply;
  return first(faults, spoilt)?.(faults, reply, problems) ?? reply;
}

function first<Entry>(faults: FaultSet, table: Readonly<Record<string, Entry>>): Entry | undefined {
  return Object.entries(table).find(([name]) => faults.has(name.trim()))?.[1];
}

const said = (problem: Problem) => (_: FaultSet, problems: ProblemReplies) => problems(problem);

/**
 * With these faults, the request is not processed, and these replies are returned instead. Numeric names have a leading
 * space, because JavaScript would otherwise move them to the front.
 */
const refusals: Readonly<Record<string, (faults: FaultSet, problems: ProblemReplies) => Reply>> = {
  ' 429': (faults, problems) => withRetryAfter(problems('rate-limited'), faults.text('429')),
  '429-date': (faults, problems) => {
    // An HTTP date has whole seconds. Rounding up keeps a positive wait from becoming a date in the past.
    const at = Math.ceil(Date.now() / 1000 + (faults.number('429-date') ?? 2)) * 1000;
    return withRetryAfter(problems('rate-limited'), new Date(at).toUTCString());
  },
  ' 502': () => htmlError(502),
  ' 504': () => htmlError(504),
  ' 503': (faults, problems) => withRetryAfter(problems('unavailable'), faults.text('503')),
  quota: said('quota-exhausted'),
  ' 401': said('unauthorized'),
  ' 403': said('forbidden'),
  ' 404': said('not-found'),
  ' 500': said('internal'),
  moderation: said('moderated'),
  redirect: (faults) => bytes(302, Buffer.alloc(0), { location: faults.text('redirect') ?? '/elsewhere' }),
  reset: () => ({ kind: 'drop', afterMs: 0 }),
  timeout: (faults) => ({ kind: 'drop', afterMs: (faults.number('timeout') ?? 120) * 1000 }),
};

type Sent = { readonly kind: 'send' } & Content;

const spoilt: Readonly<Record<string, (faults: FaultSet, reply: Sent, problems: ProblemReplies) => Reply>> = {
  'accepted-500': (_, __, problems) => problems('internal'),
  'accepted-502': () => htmlError(502),
  'accepted-504': () => htmlError(504),
  'accepted-then-silent': (faults) => {
    return { kind: 'drop', afterMs: (faults.number('accepted-then-silent') ?? 0) * 1000 };
  },
  malformed: (_, reply) => ({ ...reply, body: reply.body.subarray(0, Math.max(1, reply.body.length >> 1)) }),
  empty: (_, reply) => ({ ...reply, body: Buffer.alloc(0) }),
  html: (_, reply) => ({ ...reply, headers: { 'content-type': 'text/html' }, body: htmlBody('Welcome') }),
  gzip: (_, reply) => {
    const headers = { ...reply.headers, 'content-encoding': 'gzip' };
    return { ...reply, headers, body: gzipSync(reply.body) };
  },
  'huge-body': (faults, reply) => {
    return { ...reply, kind: 'flood', totalBytes: (faults.number('huge-body') ?? 70) * mebibyte };
  },
  'slow-loris': (faults, reply) => {
    return { ...reply, kind: 'trickle', durationMs: (faults.number('slow-loris') ?? 60) * 1000 };
  },
};

function withRetryAfter(reply: Reply, value: string | undefined): Reply {
  if (value === undefined || value === '' || reply.kind !== 'send') return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': value } };
}

function htmlError(status: 502 | 504): Reply {
  const title = status === 502 ? '502 Bad Gateway' : '504 Gateway Time-out';
  return bytes(status, htmlBody(title), { 'content-type': 'text/html', server: 'nginx' });
}

function htmlBody(title: string): Buffer {
  return Buffer.from(
    `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>\r\n`,
  );
}

export async function pause(seconds: number): Promise<void> {
  // The timer is unreferenced, so that a simulator that is shutting down need not wait for its slow responses.
  await sleep(seconds * 1000, undefined, { ref: false });
}
