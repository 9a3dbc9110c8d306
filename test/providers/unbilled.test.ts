import { describe, expect, it } from 'vitest';
import { isUnbilled } from '../../src/domain/rescue.ts';
import { providerContext, submitContext } from './support.ts';
import { useSimulator } from './use-simulator.ts';
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

const simulator = useSimulator({ renderSeconds: 10 });

describe.each(jobVendors)('$name', (vendor) => {
  it.each([
    ['failed', failsFreely],
    ['moderation-in-task', moderatesFreely],
  ])('after [sim:%s]', async (fault, free) => {
    const context = providerContext({
      request: simulator.request,
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
