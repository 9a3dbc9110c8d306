import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choosePort } from '../../src/local/servers/ports.ts';
import { startGateway, testYaml } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startS3 } from './support.ts';

describe('results in S3-compatible storage', () => {
  let s3: Awaited<ReturnType<typeof startS3>>;
  let gateway: TestGateway;
  beforeAll(async () => {
    s3 = await startS3();
    const results = JSON.stringify({ storage: 's3', s3: s3.settings });
    const port = await choosePort('any', 'the test gateway');
    gateway = await startGateway({
      yaml: testYaml.replace('currency: USD\n', `currency: USD\nresults: ${results}\n`),
      environment: { PORT: String(port) },
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await s3.close();
  });

  it('are served by the gateway, in ranges too, and leave the upstream’s link when the storage is down', async () => {
    const account = await gateway.account();
    const create = async () => account.finished((await account.create()).body.id);
    const { video_url: url } = await create();
    expect(url).toContain(`${gateway.url}/media/task_`);
    const whole = await fetch(url);
    expect(whole.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    const part = await fetch(url, { headers: { range: 'bytes=100-199' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200))).toBe(true);

    await s3.close();
    const without = await create();
    expect(without['status']).toBe('succeeded');
    expect(without['video_url']).toContain(gateway.environment['SIMULATOR_URL']);
    expect(await gateway.core.stores.resultCopies.find(without['id'])).toMatchObject({ state: 'retry' });
    s3 = await startS3();
  });
});
