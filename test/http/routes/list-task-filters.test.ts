import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_task_filters');

it('counts the tasks of the week by model, channel and failure, and those that need an operator now', async () => {
  world.clock.stoppedAt = Date.parse('2026-03-02T12:00:00Z');
  const account = await world.newAccount();
  const create = async (model: string) => String((await account.create({ model })).body.id);
  const [one, two, three] = [await create('clip'), await create('clip'), await create('plain')];
  await world.drive.accept(one);
  await world.drive.fail(two, { code: 'provider_error', message: 'm', class: 'quota' });
  await world.drive.ask(three);
  world.clock.stoppedAt += 60_000;
  expect((await world.admin('GET', '/task-filters')).body).toEqual({
    object: 'task_filters',
    models: [
      { name: 'clip', count: 2 },
      { name: 'plain', count: 1 },
    ],
    channels: [{ name: 'one', count: 2 }],
    classes: [{ name: 'quota', count: 1 }],
    attention: [{ name: 'submit_ambiguous', count: 1 }],
  });
});
