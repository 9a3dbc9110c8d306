import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../../support/callback-receiver.ts';
import { z } from 'zod';
import { CallbackSender } from '../../../workshop/simulator/callbacks.ts';
import { Clock } from '../../../workshop/simulator/clock.ts';
import { dialect, type Dialect } from '../../../workshop/simulator/dialect.ts';
import { FaultBook } from '../../../workshop/simulator/fault-book.ts';
import { Statistics } from '../../../workshop/simulator/statistics.ts';
import { json, parseJson, refusals } from '../../../workshop/simulator/wire.ts';
import { testWorld } from './support.ts';

/** The dialect that docs/adding-a-provider.md shows. It is as small as possible. */
const refuse = refusals(({ status, message }) => json(status, { wrong: message }));

const bodySchema = z.object({
  model: z.string(),
  prompt: z.string(),
  seconds: z.int().default(5),
  hook: z.string().optional(),
});

let jobs = 0;
const createAcme = dialect({
  name: 'acme',
  prefix: '/acme',
  problems: {
    unauthorized: refuse(401, '', 'who are you'),
    forbidden: refuse(403, '', 'forbidden'),
    'not-found': refuse(404, '', 'no such job'),
    'rate-limited': refuse(429, '', 'slow down'),
    'quota-exhausted': refuse(402, '', 'no credit'),
    moderated: refuse(400, '', 'moderated'),
    internal: refuse(500, '', 'internal'),
    unavailable: refuse(503, '', 'unavailable'),
  },
  mistake: ({ field, isAbsent, reason }) =>
    refuse(422, '', isAbsent ? `${field} is missing` : `${field}: ${reason}`),
  noSuchRoute: ({ method, path }) => refuse(405, '', `${method} ${path}`),
  keyOf: ({ headers }) => (typeof headers['x-key'] === 'string' ? headers['x-key'] : undefined),
  finish: (reply) => (reply.kind === 'drop' ? reply : { ...reply, headers: { 'x-acme': 'yes' } }),
  keptMs: 3_600_000,
  knownForMs: 7_200_000,
  callbackBody: ({ id, phase: state }) => ({ id, state }),
  routes: (desk) => ({
    'POST /v1.0/jobs': desk.creates(
      bodySchema,
      ({ hook, seconds }) => {
        jobs += 1;
        return { id: `job-${jobs}`, callbackUrl: hook, detail: { width: 1280, height: 720, seconds } };
      },
      ({ id }) => json(201, { id }),
    ),
    'GET /v1.0/jobs': (call) =>
      desk.list(call, [], () =>
        json(
          200,
          desk.newestFirst().map(({ id }) => id),
        ),
      ),
    'GET /v1.0/jobs/:id': desk.shows((job) => ({ state: job.phase, url: job.links()[0] })),
    'DELETE /v1.0/jobs/:id': (call) =>
      desk.about(
        'delete',
        call,
        (job) => json(200, desk.cancel(job).phase),
        () => json(200, { already: true }),
      ),
  }),
});

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
  jobs = 0;
  acme = createAcme(testWorld({ clock, faults, statistics, callbacks, apiKeys: ['k'] }));
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
  it('reads the key where the vendor expects it, and checks it before the route', async () => {
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

  it('adds the vendor’s headers to every answer, including refusals', async () => {
    expect((await call('GET /v1.0/jobs')).headers).toMatchObject({ 'x-acme': 'yes' });
    expect((await call('GET /nowhere')).headers).toMatchObject({ 'x-acme': 'yes' });
  });

  it('rejects a body in the dialect’s own words', async () => {
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

  it('counts a rejected create as a submit only', async () => {
    faults.add({ match: { dialect: 'acme' }, fault: '429', times: 1 });
    expect(await call('POST /v1.0/jobs', order)).toMatchObject({ status: 429, body: { wrong: 'slow down' } });
    expect(statistics.ofPrompt('a cat')).toEqual({ submits: 1, creates: 0 });
  });

  it('disturbs later exchanges by the faults that the task carries', async () => {
    await call('POST /v1.0/jobs', { ...order, prompt: '[sim:poll:500*1]' });
    expect((await call('GET /v1.0/jobs/job-1')).body).toEqual({ wrong: 'internal' });
    expect((await call('GET /v1.0/jobs/job-1')).status).toBe(200);
  });

  it('responds to an unknown job as the dialect says', async () => {
    expect(await call('GET /v1.0/jobs/none')).toMatchObject({ status: 404, body: { wrong: 'no such job' } });
    expect((await call('DELETE /v1.0/jobs/none')).body).toEqual({ already: true });
  });

  it('forgets a job at the age that the dialect sets, finished or not', async () => {
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
    const receiver = await startCallbackReceiver();
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
