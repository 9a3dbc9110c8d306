import { expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/errors.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_cancel_video');

it('ends the task and releases the hold', async () => {
  const account = await world.newAccount();
  const { body } = await account.create();
  const answer = await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    id: body.id,
    status: 'failed',
    data: [],
    error: { code: 'task_cancelled' },
  });
  expect((await account.call('GET', '/v1/balance')).body).toMatchObject({
    available: '100.000000',
    held: '0.000000',
  });
});

it('409: the upstream refuses, and the task continues', async () => {
  const account = await world.newAccount();
  const { body } = await account.create();
  world.port.refuseCancel = true;
  const answer = await account.call('POST', `/v1/video/generations/${body.id}/cancel`);
  world.port.refuseCancel = false;
  expect([answer.status, answer.body.error.code]).toEqual([409, 'task_not_cancellable']);
  expect((await account.call('GET', `/v1/videos/generations/${body.id}`)).body.status).toBe('pending');
});

it('shows the task as cancelled if only the response to the cancellation was lost', async () => {
  const account = await world.newAccount();
  const { body } = await account.create();
  world.port.loseCancelAnswer = new GatewayError('service_unavailable', 'No answer.');
  const answer = await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
  world.port.loseCancelAnswer = undefined;
  expect([answer.status, answer.body.error?.code]).toEqual([200, 'task_cancelled']);
});

it('409: it has already ended', async () => {
  const account = await world.newAccount();
  const { body } = await account.create();
  await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
  const answer = await account.call('POST', `/v1/videos/generations/${body.id}/cancel`);
  expect([answer.status, answer.body.error.code]).toEqual([409, 'task_not_cancellable']);
});

it('404: unknown, and another account’s', async () => {
  const account = await world.newAccount();
  const stranger = await world.newAccount();
  const { body } = await account.create();
  for (const id of ['x', 'task_0000000000000000000000', body.id]) {
    const answer = await stranger.call('POST', `/v1/videos/generations/${id}/cancel`);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
  }
});
