import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver } from '../../support/callback-receiver.ts';
import { startSimulator } from '../../../workshop/simulator/simulator.ts';
import { arkCaller, expectCallbacks, startHarness, tasksPath, text } from './support.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function start(options: Parameters<typeof startHarness>[0] = {}) {
  const harness = await startHarness(options);
  open.push(harness);
  return { ...harness, ark: arkCaller(harness) };
}

describe('control', () => {
  it('counts submissions by prompt, refused ones too', async () => {
    const { ark, call } = await start();
    await ark.create({ content: text('a red fox') });
    await ark.create({ content: text('a red fox') });
    await ark.create({ content: text('a red wolf'), duration: '99' });
    const { body } = await call('GET', '/_control/stats?prompt=red%20fox');
    expect(body).toMatchObject({ submits: 3, creates: 2, tasks: 2, prompt: { submits: 2, creates: 2 } });
    expect((await call('GET', '/_control/stats?prompt=wolf')).body.prompt).toEqual({
      submits: 1,
      creates: 0,
    });
  });

  it('counts gets, lists, deletes and downloads', async () => {
    const { ark, call, control } = await start();
    const id = await ark.created();
    control.advance(10);
    const { content } = (await ark.get(id)).body;
    await ark.list('');
    await ark.list('');
    await (await fetch(content.video_url)).arrayBuffer();
    await ark.remove(id);
    expect((await call('GET', '/_control/stats')).body).toMatchObject({
      creates: 1,
      gets: 1,
      lists: 2,
      deletes: 1,
      media: 1,
      tasks: 0,
    });
  });

  it('shows tasks by prompt', async () => {
    const { ark, call } = await start();
    const id = await ark.created({ content: text('gw-123 a fox') });
    await ark.created();
    const { body } = await call('GET', '/_control/tasks?prompt=gw-123');
    expect(body).toEqual({
      submits: 1,
      creates: 1,
      tasks: [
        {
          id,
          dialect: 'ark',
          model: expect.any(String),
          prompt: 'gw-123 a fox',
          phase: 'queued',
          created_at: expect.any(Number),
        },
      ],
    });
  });

  it('sets the render time of later tasks', async () => {
    const { ark, call } = await start();
    await call('POST', '/_control/render-seconds', { seconds: 0 });
    expect((await ark.get(await ark.created())).body.status).toBe('succeeded');
  });

  it('puts the clock forward', async () => {
    const { ark, call } = await start();
    const id = await ark.created();
    await call('POST', '/_control/advance', { seconds: 8 });
    expect((await ark.get(id)).body.status).toBe('succeeded');
  });

  it('forgets everything on reset', async () => {
    const { ark, call, control } = await start();
    await ark.created();
    control.addFault({ match: {}, fault: '500' });
    await call('POST', '/_control/reset');
    expect(control.stats()).toMatchObject({ submits: 0, tasks: 0 });
    expect((await ark.create()).status).toBe(200);
  });

  it.each([
    ['POST', '/_control/advance', { seconds: -1 }, 400],
    ['POST', '/_control/advance', undefined, 400],
    ['POST', '/_control/faults', { match: {}, fault: '500', times: 0 }, 400],
    ['GET', '/_control/nothing', undefined, 404],
  ])('refuses %s %s %j', async (method, path, body, status) => {
    const { call } = await start();
    expect((await call(method, path, body)).status).toBe(status);
  });
});

describe('state file', () => {
  let directory: string;
  let stateFile: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'simulator-state-'));
    stateFile = join(directory, 'deep', 'simulator.jsonl');
    return () => rm(directory, { recursive: true });
  });

  it('continues its tasks after a restart, as if nothing had happened', async () => {
    const before = await startHarness({ stateFile });
    const ark = arkCaller(before);
    const running = await ark.created({
      content: text('[sim:usage-above=2]'),
      seed: 3,
      return_last_frame: true,
    });
    const cancelled = await ark.created();
    const gone = await ark.created({ content: text('[sim:render=0]') });
    await ark.remove(cancelled);
    await ark.remove(gone);
    before.control.advance(0);
    await before.close();
    const after = await start({ stateFile });
    expect((await after.ark.get(running)).body.status).toBe('queued');
    expect((await after.ark.get(cancelled)).body.status).toBe('cancelled');
    expect((await after.ark.get(gone)).status).toBe(404);
    after.control.advance(8);
    expect((await after.ark.get(running)).body).toMatchObject({
      status: 'succeeded',
      seed: 3,
      usage: { total_tokens: 217_800 },
    });
  });

  it('is complete before the create gets its response, and tolerates a torn last line', async () => {
    const first = await start({ stateFile });
    const id = await first.ark.created();
    expect(await readFile(stateFile, 'utf8')).toContain(id);
    await appendFile(stateFile, '{"dialect":"ark","task":{"id":"cg');
    const second = await start({ stateFile });
    expect((await second.ark.get(id)).status).toBe(200);
  });

  it('is rewritten at the start with all jobs that still exist', async () => {
    const first = await startHarness({ stateFile, renderSeconds: 0 });
    const ark = arkCaller(first);
    const kept = await ark.created();
    for (let index = 0; index < 5; index += 1) await ark.remove(await ark.created());
    await first.close();
    expect((await readFile(stateFile, 'utf8')).trim().split('\n')).toHaveLength(11);
    await start({ stateFile });
    const lines = (await readFile(stateFile, 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(kept);
  });

  it('lets callbacks come after a restart', async () => {
    const receiver = await startCallbackReceiver();
    open.push(receiver);
    const first = await startHarness({ stateFile });
    await arkCaller(first).created({ callback_url: receiver.url });
    // Wait until the receiver has acknowledged the callback. Otherwise, the simulator would send it once more after the
    // restart.
    await expectCallbacks(first, { attempts: 1, delivered: 1, failed: 0 });
    await first.close();
    const second = await start({ stateFile });
    second.control.advance(9);
    await receiver.waitFor(2);
    expect(receiver.received.at(-1)?.body.status).toBe('succeeded');
  });
});

describe('limits', () => {
  it('drops the oldest finished tasks beyond its limit', async () => {
    const { ark, control } = await start({ tasksMax: 100 });
    const inFlight = await ark.created({ content: text('[sim:never-finishes]') });
    const finished = await ark.created({ content: text('[sim:render=0]') });
    for (let index = 0; index < 120; index += 1) await ark.created({ content: text('[sim:render=0]') });
    expect(control.stats().tasks).toBeLessThanOrEqual(106);
    expect((await ark.get(inFlight)).status).toBe(200);
    expect((await ark.get(finished)).status).toBe(404);
  });

  it('keeps tasks in flight to twice its limit', async () => {
    const { ark, control } = await start({ tasksMax: 20 });
    const ids: string[] = [];
    for (let index = 0; index < 60; index += 1) ids.push(await ark.created());
    expect(control.stats().tasks).toBe(40);
    expect((await ark.get(ids.at(-1) ?? '')).status).toBe(200);
  });
});

describe('the server', () => {
  it('uses the configured public address in result links', async () => {
    const { ark } = await start({ publicUrl: 'http://simulator.internal:9', renderSeconds: 0 });
    const { content } = (await ark.get(await ark.created())).body;
    expect(content.video_url).toMatch(/^http:\/\/simulator\.internal:9\/media\//);
  });

  it('says that a port is taken', async () => {
    const { port } = await start();
    await expect(startSimulator({ host: '127.0.0.1', port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('closes while answers are held back', async () => {
    const harness = await startHarness();
    const held = harness
      .call('POST', tasksPath, { model: 'doubao-seedance-2-0-260128', content: text('[sim:timeout]') })
      .then(
        () => 'answered',
        () => 'broken off',
      );
    await expect.poll(() => harness.control.stats().submits).toBe(1);
    await harness.close();
    expect(await held).toBe('broken off');
  });
});
