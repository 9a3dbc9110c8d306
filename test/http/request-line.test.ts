import { expect, it } from 'vitest';
import { useHttpWorld, videoBody } from '../support/http-world.ts';

const world = useHttpWorld('http_request_line');

async function lineOf(id: string) {
  const lines = () =>
    world.logLines.map((line) => JSON.parse(line)).filter((line) => line.request_id === id && line.status);
  // Poll for the line, because it is logged after the response has been sent.
  await expect.poll(lines).toHaveLength(1);
  return lines()[0];
}

it('names the account, the key’s public id and the task, for a create, its repeat and a read', async () => {
  const account = await world.newAccount();
  const who = { account: account.id, key: account.keyId };
  const key = { 'idempotency-key': 'once' };
  const { body } = await account.create({}, { ...key, 'x-request-id': 'line-create' });
  expect(await lineOf('line-create')).toMatchObject({ ...who, operation: 'createVideo', task: body.id });
  await account.create({}, { ...key, 'x-request-id': 'line-repeat' });
  expect(await lineOf('line-repeat')).toMatchObject({ ...who, task: body.id });
  await account.call('GET', `/v1/videos/generations/${body.id}`, { headers: { 'x-request-id': 'line-get' } });
  expect(await lineOf('line-get')).toMatchObject({ ...who, operation: 'getVideo', task: body.id });
});

it('names the account of a rejected request, and no invalid task id', async () => {
  const account = await world.newAccount({ credit: '0' });
  await account.create({}, { 'x-request-id': 'line-refused' });
  const refused = await lineOf('line-refused');
  expect(refused).toMatchObject({ account: account.id, status: 402 });
  expect(refused).not.toHaveProperty('task');
  await account.call('GET', '/v1/videos/generations/secret', { headers: { 'x-request-id': 'line-odd' } });
  expect(await lineOf('line-odd')).not.toHaveProperty('task');
  await world.call('POST', '/v1/videos/generations', {
    body: videoBody,
    headers: { 'x-request-id': 'line-nobody' },
  });
  expect(await lineOf('line-nobody')).not.toHaveProperty('account');
});

it('names the operator and the task that the operator reads', async () => {
  const account = await world.newAccount();
  const { id } = (await account.create()).body;
  const { headers } = await world.admin('GET', `/tasks/${id}`);
  const line = await lineOf(String(headers['x-request-id']));
  expect(line).toMatchObject({ actor: 'admin', operation: 'getTask', task: id });
  expect(line).not.toHaveProperty('account');
});
