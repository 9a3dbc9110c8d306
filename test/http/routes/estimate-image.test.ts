import { readdir } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../src/config/gateway-file.ts';
import { providers } from '../../../src/providers/index.ts';
import { createCatalogue } from '../../../src/routing/catalogue.ts';
import { imageYaml, pixel } from '../../images/support.ts';
import { caller, type Call } from '../../support/client.ts';
import { useHttpWorld, type Server } from '../../support/http-world.ts';

const world = useHttpWorld('route_estimate_image');

let node: Server;
let call: Call;

beforeAll(async () => {
  const config = parseGatewayConfig(imageYaml({ first: 'http://127.0.0.1:1' }), 'test', {
    environment: {},
    providerNames: Object.keys(providers),
  });
  node = await world.startNode({
    catalogue: createCatalogue({ current: () => config, providers, random: () => 0.5 }),
  });
  const { key } = await world.newAccount({ credit: '0' });
  call = caller(node.url, key);
});

const estimate = (fields: object, headers = {}) =>
  call('POST', '/v1/images/generations/estimate', {
    body: { model: 'gpt-image', prompt: 'a red cube', ...fields },
    headers,
  });

it('the hold of a create, and how it comes about', async () => {
  const { status, body } = await estimate({ n: 3 });
  expect([status, body]).toEqual([200, expect.objectContaining({ object: 'image.generation.estimate' })]);
  expect(body).toMatchObject({
    hold: '0.750000',
    at_least: '0.120000',
    at_most: '0.750000',
    explanation: {
      hold: { amount: '0.750000', lines: [{ measure: 'image', quantity: '3', source: 'request' }] },
      usual: { amount: '0.120000' },
    },
  });
  expect(body.explanation.hold.facts).toContainEqual({ name: 'quality', value: 'high', source: 'open' });
  expect((await estimate({ quality: 'low' })).body.hold).toBe('0.040000');
  expect(body).not.toHaveProperty('route');
  const explained = await estimate({}, { 'x-explain-route': '1' });
  expect(explained.body.route.candidates).toHaveLength(1);
});

it('keeps nothing of the images in the request', async () => {
  const image = `data:image/png;base64,${pixel.toString('base64')}`;
  expect((await estimate({ image })).status).toBe(200);
  expect(await readdir(node.deps.images.workspaces.directory)).toEqual([]);
});

it('rejects what a create rejects', async () => {
  const { status, body } = await estimate({ n: 0 });
  expect([status, body.error.param]).toEqual([400, 'n']);
  expect((await estimate({ model: 'nothing' })).body.error.code).toBe('model_not_found');
});
