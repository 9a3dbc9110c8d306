import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const publicUrl = 'https://gw.example/media';
const world = useHttpWorld('route_receive_upstream_callback', { publicUrl });

async function newTask() {
  const account = await world.newAccount();
  const { body } = await account.create();
  const record = await world.stores.requests.find(body.id);
  return { id: body.id as string, path: `/callbacks/upstream/${body.id}/${record?.callbackToken}` };
}

it('wakes the poller when the adapter says that there is news', async () => {
  const { id, path } = await newTask();
  await world.drive.accept(id);
  expect((await world.call('POST', path, { body: { done: false } })).body).toEqual({ status: 'ok' });
  expect(world.port.woken).not.toContain(id);
  expect((await world.call('POST', path, { body: { done: true } })).status).toBe(200);
  expect(world.port.woken).toContain(id);
});

it('always wakes it before the channel is known', async () => {
  const { id, path } = await newTask();
  await world.call('POST', path, { body: {} });
  expect(world.port.woken).toContain(id);
});

it('before the answer to the submission, the attempt identifies the channel', async () => {
  const { id, path } = await newTask();
  await world.drive.send(id);
  await world.call('POST', path, { body: { done: false } });
  expect(world.port.woken).not.toContain(id);
  await world.call('POST', path, { body: { done: true } });
  expect(world.port.woken).toContain(id);
});

it('answers the challenge of an upstream that tries the address', async () => {
  const { id, path } = await newTask();
  await world.drive.accept(id);
  const answer = await world.call('POST', path, { body: { challenge: 'c0ffee' } });
  expect(answer.body).toEqual({ challenge: 'c0ffee' });
  expect(world.port.woken).not.toContain(id);
});

it('a forged signature is ignored, and one that cannot be verified only triggers a poll', async () => {
  const { id, path } = await newTask();
  await world.drive.accept(id);
  const send = (signature: string) =>
    world.call('POST', path, { body: { done: true }, headers: { 'x-signature': signature } });
  expect((await send('forged')).status).toBe(200);
  expect(world.port.woken).not.toContain(id);
  await send('unverifiable');
  expect(world.port.woken).toContain(id);
});

it('the adapter knows the address that the upstream received, because some vendors sign it', async () => {
  const { id, path } = await newTask();
  await world.drive.accept(id);
  const send = (address: string) =>
    world.call('POST', path, { body: { done: true }, headers: { 'x-address': address } });
  await send(path);
  expect(world.port.woken).not.toContain(id);
  await send(publicUrl + path);
  expect(world.port.woken).toContain(id);
});

it.each([
  ['no JSON', 'not json', 'text/plain'],
  ['nothing', undefined, 'application/json'],
  ['a list', '[1]', 'application/json'],
  ['no media type', '{}', ''],
])('accepts %s', async (_, body, type) => {
  const { path } = await newTask();
  expect((await world.call('POST', path, { body, headers: { 'content-type': type } })).status).toBe(200);
});

it('404: a wrong token, an unknown task', async () => {
  const { id, path } = await newTask();
  const paths = [
    `/callbacks/upstream/${id}/wrong`,
    `${path}x`,
    path.slice(0, -1),
    path.replace(id, 'task_0000000000000000000000'),
  ];
  for (const wrong of paths) {
    const answer = await world.call('POST', wrong, { body: { done: true } });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
  }
  expect(world.port.woken).not.toContain(id);
});

it('413: more than 64 KB, 415: encoded', async () => {
  const { path } = await newTask();
  expect((await world.call('POST', path, { body: 'x'.repeat(65_537) })).status).toBe(413);
  expect(
    (await world.call('POST', path, { body: 'x', headers: { 'content-encoding': 'gzip' } })).status,
  ).toBe(415);
});

it('a lost wake-up changes nothing for the upstream, and the token stays out of the log', async () => {
  const { id, path } = await newTask();
  const node = await world.startNode({
    port: { ...world.port, wake: () => Promise.reject(new Error('temporal is away')) },
  });
  expect((await node.call('POST', path, { body: {} })).status).toBe(200);
  const log = world.logLines.join('');
  expect(log).toContain('temporal is away');
  expect(log).toContain(id);
  expect(log).not.toContain(path.split('/').at(-1));
});
