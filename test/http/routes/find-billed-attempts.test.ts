import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';
import { succeededWith } from '../../support/task-records.ts';

const world = useHttpWorld('route_find_billed_attempts');

const find = (jobs: readonly string[], channel = 'one') =>
  world.admin('POST', '/billed-attempts/find', { channel, jobs });

it('the tasks of these jobs at this channel; jobs without a task are missing', async () => {
  const account = await world.newAccount();
  const { body: task } = await account.create();
  await world.drive.accept(task.id, 'job-1');
  const cost = { amount: '0.35', unit: 'USD' };
  await world.drive.succeed(task.id, { ...succeededWith('https://x.example/1'), cost });
  expect((await find(['nobodys', 'job-1'])).body).toMatchObject({
    object: 'list',
    data: [{ task: task.id, job: 'job-1', channel: 'one', expected: [{ by: 'upstream', ...cost }] }],
  });
  expect((await find(['nobodys'])).body.data).toEqual([]);
  expect((await find(['job-1'], 'two')).body.data).toEqual([]);
});

it('refuses no jobs, too many, and a channel that is not there', async () => {
  const many = Array.from({ length: 501 }, (_, n) => `${n}`);
  expect((await find([])).status).toBe(400);
  expect((await find(many)).status).toBe(400);
  expect((await find(many.slice(1))).body.data).toEqual([]);
  expect((await find(['a'], 'none')).status).toBe(404);
});
