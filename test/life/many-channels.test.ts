import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { testYaml } from '../support/test-yaml.ts';

const channels = 200;
const [, channel = ''] = /^channels:\n([^]*)^models:/m.exec(testYaml) ?? [];
const others = Array.from({ length: channels - 1 }, (_, index) =>
  channel.replace('id: ark', `id: other-${index}`).replace('models:', 'enabled: false\n    models:'),
);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ yaml: testYaml.replace(channel, others.join('') + channel) });
});
afterAll(() => gateway.stop());

it('submits on the last of 200 channels', async () => {
  const account = await gateway.account();
  const { body } = await account.create();
  expect(body).toMatchObject({ id: expect.any(String) });
  expect(await account.finished(body.id)).toMatchObject({ status: 'succeeded' });
});
