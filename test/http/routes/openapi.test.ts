import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ worker: false });
});
afterAll(() => gateway.stop());

type Operations = Record<string, Record<string, { operationId: string }>>;

it('describes every operation that this gateway answers, without a key', async () => {
  const answer = await gateway.call('GET', '/openapi.json');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(answer.body.openapi).toMatch(/^3\.1\./);
  const paths: Operations = answer.body.paths;
  const described = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  expect(described).toEqual(expect.arrayContaining(['createVideo', 'getBalance', 'openapi', 'reloadConfig']));
  expect(described).not.toContain('getMedia');
});

it('describes the image routes', async () => {
  const { body } = await gateway.call('GET', '/openapi.json');
  const { post, get } = body.paths['/v1/images/generations'];
  expect(post.operationId).toBe('createImage');
  expect(get.operationId).toBe('listImageTasks');
  expect(body.paths['/v1/images/generations/{task_id}'].get.operationId).toBe('getImageTask');
  const edit = body.paths['/v1/images/edits'].post;
  expect(Object.keys(edit.requestBody.content)).toEqual(['application/json', 'multipart/form-data']);
  expect(body.components.schemas.ImageEditRequest.required).toEqual(['model', 'prompt', 'image']);
  expect(Object.keys(post.responses)).toEqual(
    expect.arrayContaining(['200', '400', '401', '402', '403', '409', '413', '415', '429', '500', '503']),
  );
  expect(post.responses['500'].description).toContain('provider_error');
  expect(JSON.stringify(edit.requestBody)).not.toContain('undefined');
});

it('describes the events of every stream of images', async () => {
  const { body } = await gateway.call('GET', '/openapi.json');
  const text = JSON.stringify(body.paths);
  const named = [...text.matchAll(/"contentSchema":\{"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  const streams = text.split('"text/event-stream":').length - 1;
  // fal's stream has no named schema. If it had one, a tool would compare it with the whole event.
  expect([named.length > 6, streams - named.length]).toEqual([true, 1]);
  for (const [, name = ''] of named) expect(body.components.schemas[name]).toBeDefined();
});

function* propertiesOf(node: unknown, path: string): Generator<[string, string, Record<string, unknown>]> {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) {
    if (name === 'properties') {
      for (const [field, schema] of Object.entries<Record<string, unknown>>(value))
        yield [path, field, schema];
    }
    yield* propertiesOf(value, `${path}/${name}`);
  }
}

it('has one unit of time', async () => {
  const { body } = await gateway.call('GET', '/openapi.json');
  const times = [...propertiesOf(body, '')].filter(([, name]) => /(^|_)at$/.test(name));
  expect(times.length).toBeGreaterThan(30);
  const other = times.filter(([, , schema]) => !String(schema['description']).startsWith('Unix seconds.'));
  // Predictions are exempt, because Replicate's clients expect dates.
  const own = other.filter(([path]) => !path.startsWith('/components/schemas/Prediction'));
  expect(own.map(([path, name]) => `${path}/${name}`)).toEqual([]);
  expect(JSON.stringify(body)).not.toMatch(/milliseconds/i);
});
