import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_metrics');

it('operations and outcomes, and nothing of callers', async () => {
  const account = await world.newAccount();
  await account.create({ prompt: 'a secret prompt' });
  await account.create({ model: 'nothing' });
  const answer = await world.call('GET', '/metrics');
  expect(answer.headers['content-type']).toMatch(/^text\/plain/);
  expect(answer.text).toContain('mediary_http_request_seconds_count{operation="createVideo",status="200"}');
  expect(answer.text).toContain('mediary_create_requests_total{outcome="model_not_found"}');
  expect(answer.text).not.toMatch(new RegExp(`secret prompt|${account.id}|${account.keyId}|task_`));
});

it('can be served elsewhere', async () => {
  const node = await world.startNode({ exposeMetrics: false });
  expect((await node.call('GET', '/metrics')).status).toBe(404);
});
