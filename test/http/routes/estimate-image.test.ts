import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../src/config/gateway-file.ts';
import { openImageWorkspaces } from '../../../src/images/workspace.ts';
import type { ImageWorkspaces } from '../../../src/images/workspace.ts';
import { providers } from '../../../src/providers/index.ts';
import { createCatalogue } from '../../../src/routing/catalogue.ts';
import { imageYaml, pixel } from '../../images/support.ts';
import { caller } from '../../support/client.ts';
import type { Call } from '../../support/client.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_estimate_image');

const unused = (): never => {
  throw new Error('an estimate creates nothing');
};

let directory: string;
let workspaces: ImageWorkspaces;
let call: Call;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  workspaces = await openImageWorkspaces(Date.now, directory);
  const config = parseGatewayConfig(imageYaml({ first: 'http://127.0.0.1:1' }), 'test', {
    environment: {},
    providerNames: Object.keys(providers),
  });
  const node = await world.startNode({
    catalogue: createCatalogue({ current: () => config, providers, random: () => 0.5 }),
    images: {
      create: unused,
      asData: unused,
      streamData: unused,
      limits: { bodyBytesMax: 1_000_000, filesMax: 4, pixelsMax: 1_000_000 },
      workspaces,
      vendorFields: new Set(),
    },
  });
  const { key } = await world.newAccount({ credit: '0' });
  call = caller(node.url, key);
});
afterAll(async () => {
  await workspaces.close();
  await rm(directory, { recursive: true });
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
    expected: '0.120000',
    price: { unit: 'image', price: '0.040000', quantity: 3 },
    explanation: {
      hold: { amount: '0.750000', quantity: { value: '3', unit: 'images', source: 'request' } },
      expected: { amount: '0.120000' },
    },
  });
  expect(body.explanation.hold.facts).toContainEqual({ name: 'quality', value: 'high', source: 'open' });
  expect((await estimate({ quality: 'low' })).body.hold).toBe('0.040000');
  expect(body).not.toHaveProperty('route');
  const explained = await estimate({}, { 'x-explain-route': '1' });
  expect(explained.body.route.candidates).toHaveLength(1);
});

it('leaves nothing of the images that came with it', async () => {
  const image = `data:image/png;base64,${pixel.toString('base64')}`;
  expect((await estimate({ image })).status).toBe(200);
  expect(await readdir(workspaces.directory)).toEqual([]);
});

it('refuses what a create refuses', async () => {
  const { status, body } = await estimate({ n: 0 });
  expect([status, body.error.param]).toEqual([400, 'n']);
  expect((await estimate({ model: 'nothing' })).body.error.code).toBe('model_not_found');
});
