import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_test_callback');
const path = '/v1/callbacks/test';

async function receiver(status: number | undefined) {
  const seen: { body: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      seen.push({ body, headers: request.headers });
      if (status === undefined) request.socket.destroy();
      else response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, seen };
}

it('sends one signed event, and reports the server’s answer', async () => {
  const account = await world.newAccount();
  const { url, seen } = await receiver(418);
  const { status, body } = await account.call('POST', path, { body: { url } });
  expect([status, body]).toEqual([
    200,
    {
      object: 'callback.test',
      id: expect.stringMatching(/^evt_test_/),
      status: 418,
      error: null,
      duration_ms: expect.any(Number),
    },
  ]);
  expect(seen).toHaveLength(1);
  const [{ body: text, headers } = { body: '', headers: {} }] = seen;
  expect(headers['webhook-id']).toBe(body.id);
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  expect(new Webhook(account.webhookSecret).verify(text, named)).toEqual({
    type: 'test',
    timestamp: expect.any(String),
    data: { account: account.id },
  });
});

it('reports that there was no response', async () => {
  const account = await world.newAccount();
  const { url } = await receiver(undefined);
  const { body } = await account.call('POST', path, { body: { url } });
  expect(body).toMatchObject({ status: null, error: expect.any(String) });
  const inside = await account.call('POST', path, { body: { url: 'http://127.0.0.2:9/hook' } });
  expect(inside.body).toMatchObject({ status: null, error: 'address_refused' });
});

it('400: no address, or one that callbacks may not use', async () => {
  const account = await world.newAccount();
  const refusal = async (body: object) => (await account.call('POST', path, { body })).body.error;
  expect(await refusal({})).toMatchObject({ code: 'missing_parameter', param: 'url' });
  const url = 'https://forbidden.example/x';
  expect(await refusal({ url })).toMatchObject({ code: 'callback_url_not_allowed', param: 'url' });
});

it('one account cannot take all slots of an address', async () => {
  const [busy, other] = await Promise.all([world.newAccount(), world.newAccount()]);
  const waiting: (() => void)[] = [];
  const server = createServer((_, response) => void waiting.push(() => response.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const refused: unknown[] = [];
  const many = Array.from({ length: 16 }, async () => {
    const { status, body } = await busy.call('POST', path, { body: { url } });
    if (status !== 200) refused.push(body.error.code);
  });
  await expect.poll(() => [waiting.length, refused.length]).toEqual([12, 4]);
  const theirs = other.call('POST', path, { body: { url } });
  await expect.poll(() => waiting.length).toBe(13);
  for (const answer of waiting) answer();
  expect((await theirs).body.status).toBe(200);
  await Promise.all(many);
  expect(refused).toEqual(Array(4).fill('concurrency_limit_exceeded'));
});
