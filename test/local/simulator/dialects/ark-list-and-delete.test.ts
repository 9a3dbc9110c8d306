import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { arkCaller, seedance2, startHarness, text } from '../support.ts';
import type { ArkCaller, Harness, Json } from '../support.ts';

const pro1 = 'doubao-seedance-1-0-pro-250528';

const harness: Harness = await startHarness({ renderSeconds: 8 });
const ark: ArkCaller = arkCaller(harness);
beforeEach(() => {
  harness.control.reset();
});
afterAll(() => harness.close());

describe('list', () => {
  it('holds the same objects as the GET, newest first', async () => {
    const ids = [await ark.created(), await ark.created({ return_last_frame: true })];
    harness.control.advance(9);
    const { status, body } = await ark.list('page_num=1&page_size=10');
    expect(status).toBe(200);
    expect(body.total).toBe(2);
    expect(body.items).toEqual([(await ark.get(ids[1] ?? '')).body, (await ark.get(ids[0] ?? '')).body]);
  });

  it('filters by ids, of which unknown ones are left out', async () => {
    const ids = [await ark.created(), await ark.created(), await ark.created()];
    const { body } = await ark.list(
      `filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}&filter.task_ids=cgt-none&page_size=500`,
    );
    expect(body.total).toBe(2);
    expect(body.items.map(({ id }: Json) => id)).toEqual([ids[0], ids[2]]);
  });

  it('filters by status', async () => {
    const done = await ark.created();
    harness.control.advance(9);
    const waiting = await ark.created();
    expect((await ark.list('filter.status=succeeded')).body.items.map(({ id }: Json) => id)).toEqual([done]);
    expect((await ark.list('filter.status=queued')).body.items.map(({ id }: Json) => id)).toEqual([waiting]);
    expect((await ark.list('filter.status=failed')).body).toEqual({ total: 0, items: [] });
  });

  it('filters by the model or endpoint that was asked for, and by tier', async () => {
    const plain = await ark.created();
    const endpoint = await ark.created({ model: 'ep-1' });
    const flex = await ark.created({ model: pro1, service_tier: 'flex' });
    expect((await ark.list('filter.model=ep-1')).body.items.map(({ id }: Json) => id)).toEqual([endpoint]);
    expect((await ark.list(`filter.model=${seedance2}`)).body.items.map(({ id }: Json) => id)).toEqual([
      plain,
    ]);
    expect((await ark.list('filter.service_tier=flex')).body.items.map(({ id }: Json) => id)).toEqual([flex]);
  });

  it.each([
    'page_num=0',
    'page_num=501',
    'page_size=0',
    'page_size=501',
    'page_size=x',
    'filter.status=done',
  ])('refuses %s', async (query) => {
    const answer = await ark.list(query);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe(`InvalidParameter.${query.split('=')[0]}`);
  });

  it('can take the shape of the SDK: failure_reason, and no resolution, ratio or duration', async () => {
    const failed = await ark.created({ content: text('[sim:failed]') });
    const done = await ark.created();
    harness.control.advance(9);
    harness.control.addFault({ match: {}, fault: 'list:sdk-shape' });
    const { items } = (await ark.list('')).body;
    const byId = (id: string): Json => items.find((item: Json) => item.id === id);
    expect(byId(failed).failure_reason.code).toBe('InternalServiceError');
    expect(byId(failed)).not.toHaveProperty('error');
    for (const field of ['resolution', 'ratio', 'duration', 'failure_reason'])
      expect(byId(done)).not.toHaveProperty(field);
    expect(byId(done).content.video_url).toContain('.mp4');
  });
});

describe('delete', () => {
  it('cancels what is queued; the record goes after a day', async () => {
    const id = await ark.created();
    const answer = await ark.remove(id);
    expect([answer.status, answer.body]).toEqual([200, {}]);
    harness.control.advance(20);
    expect((await ark.get(id)).body.status).toBe('cancelled');
    harness.control.advance(86_400);
    expect((await ark.get(id)).status).toBe(404);
  });

  it('refuses what runs; it goes on to its end', async () => {
    const id = await ark.created();
    harness.control.advance(2);
    const answer = await ark.remove(id);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({ code: 'InvalidAction.RunningTaskDeletion', type: 'Conflict' });
    expect(answer.body.error.message).toMatch(/^Cannot delete task because it is currently running/);
    harness.control.advance(9);
    expect((await ark.get(id)).body.status).toBe('succeeded');
  });

  it.each(['', '[sim:failed]', '[sim:never-finishes]'])('removes what has ended (%s)', async (marker) => {
    const id = await ark.created({ content: text(`a ${marker}`), execution_expires_after: 3600 });
    harness.control.advance(3601);
    expect((await ark.remove(id)).status).toBe(200);
    expect((await ark.get(id)).status).toBe(404);
  });

  it('refuses what is cancelled already, and what is unknown', async () => {
    const id = await ark.created();
    await ark.remove(id);
    expect((await ark.remove(id)).status).toBe(409);
    expect((await ark.remove('cgt-none')).status).toBe(404);
  });

  it('can answer 204 without a body', async () => {
    const id = await ark.created({ content: text('[sim:delete:no-content]') });
    const answer = await ark.remove(id);
    expect([answer.status, answer.text]).toEqual([204, '']);
  });
});
