import { expect, it } from 'vitest';
import { sighted } from '../../../src/base/notice.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_notices');

it('those in a state, last changed first, with the targets that know the latest change', async () => {
  expect((await world.admin('GET', '/notices')).body).toEqual({ object: 'list', data: [] });
  const { notices } = world.stores;
  for (const [at, subject] of ['a/one', 'a/two'].entries()) {
    const condition = { kind: 'circuit_open', subject, count: 1, text: 'Nothing is submitted.' } as const;
    const notice = { ...sighted(undefined, condition, 1000 * at), notified: { mail: 1, pager: 0 } };
    await notices.write(notice, undefined);
  }
  const { body } = await world.admin('GET', '/notices?state=open');
  const common = { object: 'notice', kind: 'circuit_open', state: 'open', count: 1, notified: ['mail'] };
  expect(body.data).toMatchObject([
    { ...common, id: 'circuit_open/a/two', subject: 'a/two', since: 1, ended_at: null },
    { ...common, id: 'circuit_open/a/one', subject: 'a/one', since: 0, ended_at: null },
  ]);
  expect((await world.admin('GET', '/notices?state=over')).body.data).toEqual([]);
  expect((await world.admin('GET', '/notices?state=gone')).status).toBe(400);
});
