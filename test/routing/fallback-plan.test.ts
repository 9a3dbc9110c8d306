import { describe, expect, it } from 'vitest';
import type { Buyer } from '../../src/access/caller.ts';
import type { VideoRequest } from '../../src/models/request.ts';
import type { ChannelConfig, GatewayConfig } from '../../src/config/gateway-file.ts';
import { providers } from '../../src/providers/index.ts';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import { asAsked } from '../providers/support.ts';
import { testConfig, testRequest } from './support.ts';
import { testBuyer } from '../support/buyer.ts';

const [template] = testConfig.channels;
const [model] = testConfig.models;
if (template === undefined || model === undefined) throw new Error('the test configuration has both');
const known = { template, model };

const caller = testBuyer;
type Change = Partial<Omit<ChannelConfig, 'id'>>;

function configOf(changes: Readonly<Record<string, Change>> = {}, isOn = true): GatewayConfig {
  const channels = ['low', 'dear', 'other'].map((id) => ({
    ...known.template,
    id,
    priority: id === 'low' ? 1 : 0,
    ...changes[id],
  }));
  const measure = 'million_tokens' as const;
  const lines = [
    { measure, when: { channel: ['dear'] }, price: '9.00' },
    { measure, price: '7.00' },
  ];
  const fallback = { channels: ['dear', 'other'], on: ['internal' as const], allow_moderation: false };
  const changed = { ...known.model, price: { ...known.model.price, lines } };
  return { ...testConfig, channels, models: [isOn ? { ...changed, fallback } : changed] };
}

interface Asked {
  readonly config?: GatewayConfig;
  readonly request?: Partial<VideoRequest>;
  readonly caller?: Buyer;
  readonly broken?: string;
}

function planOf({ config = configOf(), request: fields, caller: who = caller, broken }: Asked = {}) {
  const outage = ({ id }: ChannelConfig) =>
    id === broken ? ({ channel: id, reason: 'circuit_open', detail: 'broken' } as const) : undefined;
  const catalogue = createCatalogue({ current: () => config, providers, random: () => 0.5, outage });
  return catalogue.plan(asAsked({ ...testRequest, ...fields }), who);
}
const channelsOf = (asked?: Asked) => planOf(asked).fallback?.candidates.map(({ channel }) => channel);

describe('the fallback of a plan', () => {
  it('is absent if the model names none, and the hold is then the cost of the plan', () => {
    const { fallback, hold } = planOf({ config: configOf({ dear: { enabled: false } }, false) });
    expect(fallback).toBeUndefined();
    expect(hold).toBe(762_300n);
  });

  it('has the channels in the order of the file, with everything that is frozen for them', () => {
    expect(planOf().fallback).toEqual({
      candidates: [
        { channel: 'dear', credential: 'a' },
        { channel: 'other', credential: 'a' },
      ],
      on: ['internal'],
      neededSeconds: 1,
    });
  });

  it('is included in the hold: the most expensive channel counts, although the plan itself does not need it', () => {
    // The plan leaves out a channel with an open circuit. The fallback includes it, because the circuit may close
    // before the job fails.
    const plan = planOf({ broken: 'dear' });
    expect(plan.candidates.map(({ channel }) => channel)).toEqual(['low', 'other']);
    expect(plan.fallback?.candidates.map(({ channel }) => channel)).toEqual(['dear', 'other']);
    expect(plan.hold).toBe(980_100n);
  });

  it.each<[string, Asked]>([
    ['is switched off', { config: configOf({ dear: { enabled: false } }) }],
    ['does not serve the model', { config: configOf({ dear: { models: {} } }) }],
    ['is closed to the key', { caller: { ...caller, channels: ['low', 'other'] } }],
  ])('omits a channel that %s', (_, asked) => {
    expect(channelsOf(asked)).toEqual(['other']);
  });

  it.each<[string, Partial<VideoRequest>]>([
    ['a draft', { draft: true, resolution: '480p' }],
    ['media that one vendor keeps', { references: ['asset://asset-1'] }],
  ])('is absent for %s', (_, fields) => {
    const config = configOf({
      low: { models: { seedance: { upstream: 'doubao-seedance-1-5-pro-251215' } } },
    });
    const { candidates, fallback } = planOf({ request: fields, config });
    expect(candidates.length).toBeGreaterThan(0);
    expect(fallback).toBeUndefined();
  });
});
