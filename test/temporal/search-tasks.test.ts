import { expect, it } from 'vitest';
import { createTaskSearch } from '../../src/temporal/search-tasks.ts';
import { openTemporal } from './support.ts';

const world = openTemporal();
const search = createTaskSearch(world.client, world.queuePrefix);

it('finds the tasks of this gateway, a page at a time', async () => {
  const query = 'ExecutionStatus = "Running" OR ExecutionStatus = "Terminated"';
  const started = [await world.start(), await world.start(), await world.start()].map(({ task }) => task);
  // Poll, because the visibility store lags behind.
  await expect
    .poll(async () => (await search({ query, limit: 10 })).ids.toSorted())
    .toEqual(started.toSorted());
  const first = await search({ query, limit: 2 });
  expect(first.ids).toHaveLength(2);
  const rest = await search({ query, limit: 2, page: first.next ?? 'none' });
  expect(rest).toEqual({ ids: started.filter((task) => !first.ids.includes(task)) });
  const other = createTaskSearch(world.client, `${world.queuePrefix}other-`);
  expect((await other({ query, limit: 10 })).ids).toEqual([]);
});

it('rejects a page token that it has not issued', async () => {
  const token = Buffer.from('{"x":1}').toString('base64url');
  for (const page of ['', 'abc', token])
    await expect(search({ query: 'NeedsAttention = "a"', limit: 10, page })).rejects.toMatchObject({
      code: 'invalid_parameter',
      param: 'page',
    });
});

it.each(['NoSuchAttribute = "x"', 'NeedsAttention ='])('explains why %s is not a query', async (query) => {
  await expect(search({ query, limit: 10 })).rejects.toMatchObject({
    code: 'invalid_parameter',
    param: 'query',
    message: expect.stringMatching(/^Temporal rejects the query: ./),
  });
});
