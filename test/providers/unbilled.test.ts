import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isUnbilled } from '../../src/domain/rescue.ts';
import { createUpstreamClient } from '../../src/http-client/index.ts';
import type { UpstreamClient } from '../../src/http-client/index.ts';
import { startSimulator } from '../../src/local/simulator/simulator.ts';
import type { Simulator } from '../../src/local/simulator/simulator.ts';
import { providerContext, submitContext } from './support.ts';
import { jobVendors } from './vendors.ts';

/** Of which vendors a job that failed is known to cost nothing: only such a job may be replaced by another one. */
const always = [
  'ark',
  'dashscope video',
  'dashscope Wan 3.0',
  'dashscope HappyHorse',
  'dashscope image',
  'minimax v2',
  'runway',
  'runway image',
];
const failsFreely = [...always, 'fal', 'fal image'];
const moderatesFreely = [
  ...always,
  'bfl video',
  'bfl image',
  'bfl FLUX 3 image',
  'google Omni',
  'google Veo',
];

let simulator: Simulator;
let request: UpstreamClient;
beforeAll(async () => {
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    apiKeys: ['test-key'],
    renderSeconds: 10,
  });
  request = createUpstreamClient({ allowPrivateNetworks: ['127.0.0.0/8'] });
});
afterAll(async () => {
  await request.close();
  await simulator.close();
});
beforeEach(() => simulator.control.reset());

describe.each(jobVendors)('$name', (vendor) => {
  it.each([
    ['failed', failsFreely],
    ['moderation-in-task', moderatesFreely],
  ])('after [sim:%s]', async (fault, free) => {
    const context = providerContext({
      request,
      baseUrl: simulator.url + vendor.path,
      model: vendor.model,
    });
    const marked = submitContext({ ...context, marker: `mediary-${fault}` });
    const { operation } = await vendor.submit(`a boat [sim:${fault}]`, marked);
    simulator.control.advance(100);
    const status = await vendor.status(operation, context);
    if (status.state !== 'failed') throw new Error(`it is ${status.state}`);
    expect({ [vendor.name]: isUnbilled(status) }).toEqual({ [vendor.name]: free.includes(vendor.name) });
  });
});
