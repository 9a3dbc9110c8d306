import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/errors.ts';
import { oneAtATime, workingReply, type Watching } from '../../src/http/working-reply.ts';

const never = new AbortController().signal;
const thrown: unknown[] = [];

function reply(run: (watching: Watching) => Promise<object>, signal = never): Readable {
  const { body } = workingReply({ run, signal, onError: (error) => void thrown.push(error), everyMs: 1 });
  if (!(body instanceof Readable)) throw new Error('it is a stream');
  return body;
}

const linesOf = async (stream: Readable) =>
  (await text(stream))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

it('reports the progress of the work until it has a result', async () => {
  let end: (result: object) => void = () => undefined;
  let onProgress: Watching['onProgress'] = () => undefined;
  const stream = reply((watching) => {
    ({ onProgress } = watching);
    return new Promise((resolve) => (end = resolve));
  });
  const lines: unknown[] = [];
  let rest = '';
  for await (const chunk of stream) {
    rest += String(chunk);
    const whole = rest.split('\n');
    rest = whole.pop() ?? '';
    lines.push(...whole.map((line) => JSON.parse(line)));
    if (lines.length === 1) onProgress({ entries: 7 });
    if (JSON.stringify(lines.at(-1)).includes('7')) end({ violations: 0 });
  }
  expect(lines[0]).toEqual({ progress: {} });
  expect(lines).toContainEqual({ progress: { entries: 7 } });
  expect(lines.at(-1)).toEqual({ result: { violations: 0 } });
});

it('ends with the error body of every route, and reports the cause to us', async () => {
  const secret = new Error('secret detail');
  const lines = await linesOf(reply(() => Promise.reject(secret)));
  expect(lines.at(-1)).toEqual({ error: expect.objectContaining({ code: 'internal_error' }) });
  expect(JSON.stringify(lines)).not.toContain('secret');
  expect(thrown).toContain(secret);
  const ours = new GatewayError('service_unavailable', 'Later.');
  expect((await linesOf(reply(() => Promise.reject(ours)))).at(-1)).toMatchObject({
    error: { code: 'service_unavailable', message: 'Later.' },
  });
});

it('does not report an end that a disconnected reader caused', async () => {
  const abort = new AbortController();
  const reason = new Error('gone');
  abort.abort(reason);
  await linesOf(reply(() => Promise.reject(reason), abort.signal));
  expect(thrown).not.toContain(reason);
});

it('releases its place at once if the work fails', async () => {
  const alone = oneAtATime('Another one is running.');
  const run = (): never => {
    throw new GatewayError('service_unavailable', 'Later.');
  };
  for (let n = 0; n < 2; n += 1) {
    const { body } = alone({ run, signal: never, onError: () => undefined });
    const [last] = body instanceof Readable ? await linesOf(body) : [];
    expect(last).toMatchObject({ error: { code: 'service_unavailable' } });
  }
});

it('begins without a reader, and releases its place', async () => {
  const alone = oneAtATime('Another one is running.');
  const work = { run: async () => ({ done: true }), signal: never, onError: () => undefined };
  const unread = alone(work).body;
  if (unread instanceof Readable) unread.destroy();
  expect(() => alone(work)).toThrow('Another one is running.');
  await new Promise(setImmediate);
  const next = alone(work).body;
  expect(next instanceof Readable && (await linesOf(next)).at(-1)).toEqual({ result: { done: true } });
});
