import { describe, expect, it } from 'vitest';
import type { FailureClass } from '../../src/errors/failure.ts';
import { isUnbilled } from '../../src/task/rescue.ts';
import { providers } from '../../src/providers/index.ts';
import { providerContext, realMarker, submitContext } from './support.ts';
import { useSimulator } from './use-simulator.ts';
import { jobVendors } from './vendors.ts';
import type { JobVendor } from './vendors.ts';

/** Of which vendors a job that failed is known to cost nothing: only such a job may be replaced by another one. */
const always = [
  'ark',
  'dashscope video',
  'dashscope Wan 3.0',
  'dashscope Wan 3.0 Prime',
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
  'bfl FLUX 3 image klein',
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
    const marked = submitContext({ ...context, marker: realMarker() });
    const { operation } = await vendor.submit(`a boat [sim:${fault}]`, marked);
    simulator.control.advance(100);
    const status = await vendor.status(operation, context);
    if (status.state !== 'failed') throw new Error(`it is ${status.state}`);
    expect({ [vendor.name]: isUnbilled(status) }).toEqual({ [vendor.name]: free.includes(vendor.name) });
    // What docs/providers.md says of the vendor is what its adapter does.
    expect({ [vendor.name]: status.unbilled === true }).toEqual({
      [vendor.name]: isPromised(vendor, status.failure.class),
    });
  });
});

/** Rows are named after their provider, perhaps with a family of its models. */
function isPromised({ name, model }: JobVendor, failure: FailureClass): boolean {
  const unbilled = providers[name.split(' ')[0] ?? '']?.about.unbilled;
  if (unbilled === undefined || !model.startsWith(unbilled.models ?? '')) return false;
  return unbilled.classes === 'all' || unbilled.classes.includes(failure);
}

it('is promised by the providers that are known for it, and by no other', () => {
  const promising = Object.entries(providers).filter(([, { about }]) => about.unbilled !== undefined);
  expect(promising.map(([name]) => name)).toEqual([
    'ark',
    'bfl',
    'dashscope',
    'fal',
    'google',
    'minimax',
    'runway',
  ]);
});
