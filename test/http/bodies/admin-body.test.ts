import type { Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBodyBudget } from '../../../src/http/bodies/body-budget.ts';
import { adminBody } from '../../../src/http/body.ts';
import { GatewayError } from '../../../src/errors/errors.ts';

const app = new Koa().use(async (context) => {
  const memory = createBodyBudget({
    name: 'bodies of json',
    bytesMax: 1_000_000,
    accountBytesMax: 1_000_000,
  }).open('');
  try {
    context.body = {
      read: await adminBody.read(context, {
        memory,
        disk: memory,
        bytesPerSecondMin: 1,
        isHeldBack: () => false,
      }),
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    context.body = { code: error.code, message: error.message };
  }
});
app.silent = true;
let server: Server;
let url: string;
beforeAll(async () => {
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function send(body: string | undefined, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
  expect(response.status).toBe(200);
  return response.json() as Promise<unknown>;
}

it.each([
  ['an object', '{"id":"a","n":[1,{"b":"ü"}]}', { id: 'a', n: [1, { b: 'ü' }] }],
  ['fields that are null as absent ones', '{"id":"a","name":null}', { id: 'a' }],
  ['no body as an empty object', undefined, {}],
  ['64 KiB', JSON.stringify({ a: 'x'.repeat(65_528) }), { a: 'x'.repeat(65_528) }],
])('reads %s', async (_name, body, read) => {
  expect(await send(body)).toEqual({ read });
});

it.each([
  [
    'one byte more than 64 KiB',
    JSON.stringify({ a: 'x'.repeat(65_529) }),
    'request_too_large',
    /65536 bytes/,
  ],
  ['a list', '[1]', 'invalid_json', /must be a JSON object/],
  ['a number', '1', 'invalid_json', /not valid JSON/],
  ['half an object', '{"id":', 'invalid_json', /it ends at line 1, column 7, before it is complete/],
  ['a comma too many', '{\n"id": 1,}', 'invalid_json', /not valid JSON at line 2, column 9\.$/],
  ['a __proto__', '{"id":"a","n":{"__proto__":{"role":"admin"}}}', 'invalid_json', /not valid JSON/],
])('refuses %s', async (_name, body, code, message) => {
  expect(await send(body)).toEqual({ code, message: expect.stringMatching(message) });
});

it('refuses a form', async () => {
  expect(await send('id=a', { 'content-type': 'application/x-www-form-urlencoded' })).toEqual({
    code: 'unsupported_media_type',
    message: expect.stringMatching(/application\/json/),
  });
});
