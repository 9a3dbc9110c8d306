import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_reload_config');

it('a bad file is refused with every violation', async () => {
  const answer = await world.admin('POST', '/config/reload');
  expect(answer.status).toBe(400);
  expect(answer.body.error.message).toBe('The file was not loaded: models: required; currency: required');
});

it('a good one is named by its fingerprint', async () => {
  const node = await world.startNode({ reloadConfig: () => Promise.resolve({ ok: true, version: 'abc' }) });
  expect((await node.admin('POST', '/config/reload')).body).toEqual({ object: 'config', version: 'abc' });
});
