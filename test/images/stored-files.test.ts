import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { postForm, type TestAccount } from '../support/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { imageYaml, png, startImageUpstream, type ImageUpstream } from './support.ts';

/** The public URL of this gateway cannot be reached by anybody, including the gateway itself. */

let upstream: ImageUpstream;
let gateway: TestGateway;
let account: TestAccount;
let directory: string;
let file = '';
const picture = png(3, 2);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stored-images-'));
  upstream = await startImageUpstream();
  gateway = await startGateway({
    yaml: `${imageYaml({ first: upstream.url })}results: { storage: directory }\n`,
    environment: {
      DATA_DIR: directory,
      PUBLIC_URL: 'http://10.9.8.7',
      MEDIA_ALLOW_PRIVATE_NETWORKS: '',
    },
  });
  account = await gateway.account();
  const form = new FormData();
  form.append('file', new File([Uint8Array.from(picture)], 'cube.png'));
  const stored = await postForm(gateway.url, '/v1/files', { key: account.key, form });
  file = `asset://${stored.body.id}`;
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  await rm(directory, { recursive: true, force: true });
});
afterEach(() => void (upstream.calls.length = 0));

const edit = (more: Record<string, unknown>) =>
  account.call('POST', '/v1/images/edits', {
    body: { model: 'gpt-image', prompt: 'bluer', image: file, ...more },
  });

it('reach the upstream as they are while the caller waits', async () => {
  const { status } = await edit({ mask: file });
  expect(status).toBe(200);
  expect(upstream.calls[0]?.body.toString('latin1').split(picture.toString('latin1'))).toHaveLength(3);
});

it('and while a worker waits', async () => {
  const { body } = await edit({ async: true });
  const find = () => account.call('GET', `/v1/images/generations/${body.id}`);
  await expect.poll(async () => (await find()).body.status).toBe('succeeded');
  expect(upstream.calls.map((call) => call.body.includes(picture))).toEqual([true]);
});

it.each([
  ['of another kind of id', 'asset://file_x', 'media_url_not_allowed'],
  ['that there is not', `asset://file_${'0'.repeat(24)}`, 'invalid_parameter'],
])('one %s is refused, and nothing is sent', async (_, image, code) => {
  const answer = await edit({ image });
  expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, 'image']);
  expect(upstream.calls).toHaveLength(0);
});
