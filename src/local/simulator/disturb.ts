import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { FaultSet } from './fault.ts';
import { bytes } from './wire.ts';
import type { Content, Reply } from './wire.ts';

/** What can be wrong, in the words that every dialect translates into its own error body. */
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

const slowSecondsDefault = 2;
const silentTimeoutSecondsDefault = 120;
const floodMegabytesDefault = 70;
const trickleSecondsDefault = 60;
const retryAfterDateSecondsDefault = 2;

/** Runs one exchange under its faults: refusals come instead of `act`, the rest disturbs what `act` answered. */
export async function disturb(
  faults: FaultSet,
  problems: ProblemReplies,
  act: () => Reply | Promise<Reply>,
): Promise<Reply> {
  if (faults.all.length === 0) return act();
  if (faults.has('slow')) await pause(faults.number('slow') ?? slowSecondsDefault);
  const refusal = refuse(faults, problems);
  if (refusal !== undefined) return refusal;
  const reply = await act();
  if (reply.kind !== 'send') return reply;
  if (faults.has('accepted-500')) return problems('internal');
  if (faults.has('accepted-502')) return htmlError(502);
  if (faults.has('accepted-504')) return htmlError(504);
  return spoil(faults, reply);
}

function refuse(faults: FaultSet, problems: ProblemReplies): Reply | undefined {
  const limited = faults.find('429');
  if (limited !== undefined) return withRetryAfter(problems('rate-limited'), limited.argument);
  if (faults.has('429-date')) {
    const seconds = faults.number('429-date') ?? retryAfterDateSecondsDefault;
    // An HTTP-date has whole seconds: rounded up, so that it is never in the past for a positive wait.
    const at = new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000);
    return withRetryAfter(problems('rate-limited'), at.toUTCString());
  }
  if (faults.has('502')) return htmlError(502);
  if (faults.has('504')) return htmlError(504);
  if (faults.has('503')) return withRetryAfter(problems('unavailable'), faults.text('503'));
  const plain: readonly (readonly [name: string, problem: Problem])[] = [
    ['quota', 'quota-exhausted'],
    ['401', 'unauthorized'],
    ['403', 'forbidden'],
    ['404', 'not-found'],
    ['500', 'internal'],
    ['moderation', 'moderated'],
  ];
  for (const [name, problem] of plain) if (faults.has(name)) return problems(problem);
  if (faults.has('redirect'))
    return bytes(302, Buffer.alloc(0), { location: faults.text('redirect') ?? '/elsewhere' });
  if (faults.has('reset')) return { kind: 'drop', afterMs: 0 };
  if (!faults.has('timeout')) return undefined;
  return { kind: 'drop', afterMs: (faults.number('timeout') ?? silentTimeoutSecondsDefault) * 1000 };
}

function spoil(faults: FaultSet, reply: { readonly kind: 'send' } & Content): Reply {
  if (faults.has('accepted-then-silent')) {
    return { kind: 'drop', afterMs: (faults.number('accepted-then-silent') ?? 0) * 1000 };
  }
  if (faults.has('malformed'))
    return { ...reply, body: reply.body.subarray(0, Math.max(1, reply.body.length >> 1)) };
  if (faults.has('empty')) return { ...reply, body: Buffer.alloc(0) };
  if (faults.has('html')) return { ...reply, headers: { 'content-type': 'text/html' }, body: htmlBody(200) };
  if (faults.has('gzip')) {
    return {
      ...reply,
      headers: { ...reply.headers, 'content-encoding': 'gzip' },
      body: gzipSync(reply.body),
    };
  }
  if (faults.has('huge-body')) {
    return {
      ...reply,
      kind: 'flood',
      totalBytes: (faults.number('huge-body') ?? floodMegabytesDefault) * 1024 * 1024,
    };
  }
  if (faults.has('slow-loris')) {
    return {
      ...reply,
      kind: 'trickle',
      durationMs: (faults.number('slow-loris') ?? trickleSecondsDefault) * 1000,
    };
  }
  return reply;
}

function withRetryAfter(reply: Reply, value: string | undefined): Reply {
  if (value === undefined || value === '' || reply.kind !== 'send') return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': value } };
}

/** What an edge proxy in front of the provider says; it does not know the provider's error body. */
function htmlError(status: 502 | 504): Reply {
  return bytes(status, htmlBody(status), { 'content-type': 'text/html', server: 'nginx' });
}

function htmlBody(status: number): Buffer {
  const title = status === 502 ? '502 Bad Gateway' : status === 504 ? '504 Gateway Time-out' : 'Welcome';
  return Buffer.from(
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<h1>${title}</h1>\r\n</body>\r\n</html>\r\n`,
  );
}

export async function pause(seconds: number): Promise<void> {
  // Not keeping the process alive: a simulator that is being closed must not wait for its slow answers.
  await sleep(seconds * 1000, undefined, { ref: false });
}
