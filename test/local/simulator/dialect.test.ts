import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CallbackSender } from '../../../src/local/simulator/callbacks.ts';
import { Clock } from '../../../src/local/simulator/clock.ts';
import { createDialect } from '../../../src/local/simulator/dialect.ts';
import type { Dialect } from '../../../src/local/simulator/dialect.ts';
import type { Problem } from '../../../src/local/simulator/disturb.ts';
import { FaultSet } from '../../../src/local/simulator/fault.ts';
import { FaultBook } from '../../../src/local/simulator/fault-book.ts';
import { JobDesk } from '../../../src/local/simulator/job-desk.ts';
import { Statistics } from '../../../src/local/simulator/statistics.ts';
import { momentOf } from '../../../src/local/simulator/task.ts';
import { check, json, parseJson, WireError } from '../../../src/local/simulator/wire.ts';
import type { Reply } from '../../../src/local/simulator/wire.ts';
import type { World } from '../../../src/local/simulator/world.ts';
import { startReceiver, testWorld } from './support.ts';

/** The smallest whole dialect: docs/adding-a-provider.md points here. */
class AcmeError extends WireError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  reply(): Reply {
    return json(this.status, { wrong: this.message });
  }
}

const problems: Readonly<Record<Problem, AcmeError>> = {
  unauthorized: new AcmeError(401, 'who are you'),
  forbidden: new AcmeError(403, 'forbidden'),
  'not-found': new AcmeError(404, 'no such job'),
  'rate-limited': new AcmeError(429, 'slow down'),
  'quota-exhausted': new AcmeError(402, 'no credit'),
  moderated: new AcmeError(400, 'moderated'),
  internal: new AcmeError(500, 'internal'),
  unavailable: new AcmeError(503, 'unavailable'),
};

const bodySchema = z.object({
  model: z.string(),
  prompt: z.string(),
  seconds: z.int().default(5),
  hook: z.string().optional(),
});

function createAcmeDialect(world: World): Dialect {
  const desk = new JobDesk(world, {
    name: 'acme',
    problems,
    detail: z.object({ seconds: z.number() }),
    recordKeptMs: 3_600_000,
    knownForMs: 7_200_000,
    callbackBody: (task) => ({ id: task.id, state: momentOf(task, world.now()).phase }),
  });
  let jobs = 0;
  return createDialect(desk, {
    prefix: '/acme',
    keyOf: ({ headers }) => (typeof headers['x-key'] === 'string' ? headers['x-key'] : undefined),
    noSuchRoute: ({ method, path }) => new AcmeError(405, `${method} ${path}`),
    headersOf: ({ status }) => ({ 'x-status': String(status) }),
    routes: {
      'POST /v1.0/jobs'({ request }) {
        const body = check(bodySchema, parseJson(request.body), ({ field, isAbsent, reason }) => {
          return new AcmeError(422, isAbsent ? `${field} is missing` : `${field}: ${reason}`);
        });
        return desk.create(request, body, async (submission) => {
          jobs += 1;
          const task = await desk.accept(submission, {
            id: `job-${jobs}`,
            expiresAfterMs: 86_400_000,
            callbackUrl: body.hook,
            detail: { seconds: body.seconds },
          });
          return json(201, { id: task.id });
        });
      },
      'GET /v1.0/jobs': (call) =>
        desk.list(call, [], () =>
          json(
            200,
            desk.newestFirst().map(({ id }) => id),
          ),
        ),
      'GET /v1.0/jobs/:id': (call) =>
        desk.about('poll', call, {
          found(task) {
            const { phase, since } = momentOf(task, world.now());
            const medium = world.video(
              { width: 1280, height: 720, ...task.detail },
              0,
              FaultSet.of(task.faults),
            );
            return json(200, { state: phase, url: world.link(task, medium, since) });
          },
        }),
      'DELETE /v1.0/jobs/:id': (call) =>
        desk.about('delete', call, {
          found(task) {
            desk.cancel(task);
            return json(200, {});
          },
          missing: () => json(200, { already: true }),
        }),
    },
  });
}

const statistics = new Statistics();
const callbacks = new CallbackSender(statistics, () => undefined);
const stopped = Date.now();
let clock = new Clock(() => stopped);
let faults = new FaultBook();
let acme: Dialect;

beforeEach(() => {
  statistics.reset();
  clock = new Clock(() => stopped);
  faults = new FaultBook();
  acme = createAcmeDialect(testWorld({ clock, faults, statistics, callbacks, apiKeys: ['k'] }));
});
afterAll(() => callbacks.close());

async function call(route: string, body?: unknown, headers: Record<string, string> = {}) {
  const [method = '', path = ''] = route.split(' ');
  const reply = await acme.handle({
    method,
    path,
    query: new URLSearchParams(),
    headers: { 'x-key': 'k', ...headers },
    body: Buffer.from(JSON.stringify(body) ?? ''),
  });
  if (reply.kind === 'drop') throw new Error('The answer was dropped.');
  return { status: reply.status, headers: reply.headers, body: parseJson(reply.body) };
}

const order = { model: 'm', prompt: 'a cat' };

describe('the skeleton of a dialect', () => {
  it('reads the key where the vendor has it, and asks for it before it looks for the route', async () => {
    expect(await call('GET /nowhere', undefined, { 'x-key': 'other' })).toMatchObject({
      status: 401,
      body: { wrong: 'who are you' },
    });
    expect((await call('GET /v1.0/jobs', undefined, { authorization: 'Bearer k', 'x-key': '' })).status).toBe(
      401,
    );
    expect((await call('GET /v1.0/jobs')).status).toBe(200);
  });

  it('matches whole routes only, and a dot only with a dot', async () => {
    for (const route of [
      'GET /v1.0',
      'PUT /v1.0/jobs',
      'GET /v1x0/jobs',
      'GET /v1.0/jobs/a/b',
      'GET /v1.0/jobs/',
    ]) {
      expect(await call(route)).toMatchObject({ status: 405, body: { wrong: route } });
    }
  });

  it('puts the headers of the vendor on every answer, refusals too', async () => {
    expect((await call('GET /v1.0/jobs')).headers).toMatchObject({ 'x-status': '200' });
    expect((await call('GET /nowhere')).headers).toMatchObject({ 'x-status': '405' });
  });

  it('refuses a body in the words of the dialect', async () => {
    expect((await call('POST /v1.0/jobs', { prompt: 'x' })).body).toEqual({ wrong: 'model is missing' });
    expect((await call('POST /v1.0/jobs', { ...order, seconds: 'x' })).body).toMatchObject({
      wrong: expect.stringMatching(/^seconds: /),
    });
    expect((await call('POST /v1.0/jobs')).body).toMatchObject({ wrong: expect.stringMatching(/^body: /) });
  });

  it('carries a job from its create to its link', async () => {
    expect(await call('POST /v1.0/jobs', order)).toMatchObject({ status: 201, body: { id: 'job-1' } });
    expect((await call('GET /v1.0/jobs/job-1')).body).toMatchObject({ state: 'queued' });
    clock.advance(8000);
    expect((await call('GET /v1.0/jobs/job-1')).body).toMatchObject({
      state: 'succeeded',
      url: expect.stringMatching(/^http:\/\/media\.example\/media\/1280x720-120-0-0\/job-1\.mp4\?/),
    });
    expect((await call('GET /v1.0/jobs')).body).toEqual(['job-1']);
    expect(statistics.counts()).toMatchObject({ submits: 1, creates: 1, gets: 2, lists: 1 });
  });

  it('counts a refused create as a submit only', async () => {
    faults.add({ match: { dialect: 'acme' }, fault: '429', times: 1 });
    expect(await call('POST /v1.0/jobs', order)).toMatchObject({ status: 429, body: { wrong: 'slow down' } });
    expect(statistics.ofPrompt('a cat')).toEqual({ submits: 1, creates: 0 });
  });

  it('disturbs later exchanges by the faults that the task carries', async () => {
    await call('POST /v1.0/jobs', { ...order, prompt: '[sim:poll:500*1]' });
    expect((await call('GET /v1.0/jobs/job-1')).body).toEqual({ wrong: 'internal' });
    expect((await call('GET /v1.0/jobs/job-1')).status).toBe(200);
  });

  it('answers a job that is not known as the dialect says', async () => {
    expect(await call('GET /v1.0/jobs/none')).toMatchObject({ status: 404, body: { wrong: 'no such job' } });
    expect((await call('DELETE /v1.0/jobs/none')).body).toEqual({ already: true });
  });

  it('forgets a job at the age that the dialect says, finished or not', async () => {
    await call('POST /v1.0/jobs', { ...order, prompt: '[sim:never-finishes]' });
    clock.advance(7_199_000);
    expect((await call('GET /v1.0/jobs/job-1')).status).toBe(200);
    clock.advance(1000);
    expect((await call('GET /v1.0/jobs/job-1')).status).toBe(404);
  });

  it('lists no job that it no longer knows', async () => {
    await call('POST /v1.0/jobs', { ...order, prompt: '[sim:never-finishes]' });
    await call('POST /v1.0/jobs', { ...order, prompt: '[sim:vanishes]' });
    expect((await call('GET /v1.0/jobs')).body).toEqual(['job-2', 'job-1']);
    clock.advance(2000);
    expect((await call('GET /v1.0/jobs/job-2')).status).toBe(404);
    expect((await call('GET /v1.0/jobs')).body).toEqual(['job-1']);
    clock.advance(7_198_000);
    expect((await call('GET /v1.0/jobs')).body).toEqual([]);
  });

  it('decodes the id of a path, and has no route for one that cannot be decoded', async () => {
    await call('POST /v1.0/jobs', order);
    expect((await call('GET /v1.0/jobs/job%2D1')).status).toBe(200);
    expect(await call('GET /v1.0/jobs/job%')).toMatchObject({
      status: 405,
      body: { wrong: 'GET /v1.0/jobs/job%' },
    });
  });

  it('calls back at each change, and not once the job is cancelled', async () => {
    const receiver = await startReceiver();
    await call('POST /v1.0/jobs', { ...order, hook: receiver.url });
    await receiver.waitFor(1);
    clock.advance(1000);
    await receiver.waitFor(2);
    await call('DELETE /v1.0/jobs/job-1');
    await call('POST /v1.0/jobs', { ...order, hook: receiver.url });
    await receiver.waitFor(3);
    clock.advance(8000);
    await receiver.waitFor(4);
    expect(receiver.received.map(({ body }) => body)).toEqual([
      { id: 'job-1', state: 'queued' },
      { id: 'job-1', state: 'running' },
      { id: 'job-2', state: 'queued' },
      { id: 'job-2', state: 'succeeded' },
    ]);
    await receiver.close();
  });
});
