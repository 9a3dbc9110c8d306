import { BSON } from 'mongodb';
import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_config');

it('503 before anything was published', async () => {
  expect((await world.admin('GET', '/config')).status).toBe(503);
});

it('shows the published version and its author, but never its text', async () => {
  const text = 'api_key: a-literal-secret';
  await world.stores.configurations.publish({
    text,
    hash: 'abc',
    currency: 'USD',
    by: 'anna',
    node: 'host/1/x',
    at: 7_000,
  });
  const { body, text: answer } = await world.admin('GET', '/config');
  expect(body).toEqual({
    object: 'config',
    version: 1,
    hash: 'abc',
    published_at: 7,
    published_by: 'anna',
    published_on: 'host/1/x',
    nodes: [],
  });
  expect(answer).not.toContain('literal-secret');
  const stored = await world.db.collection('configuration').findOne({});
  expect(Buffer.from(BSON.serialize(stored ?? {})).includes('literal-secret')).toBe(false);
});
