import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalogue } from '../../src/routing/catalogue.ts';
import type { Duration } from '../../src/models/request.ts';
import type { Buyer } from '../../src/access/caller.ts';
import type { GatewayConfig } from '../../src/config/gateway-file.ts';
import { explainRoute } from '../../src/routing/explain.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import { orderCandidates, type RouteChannel } from '../../src/routing/order-candidates.ts';
import { providers } from '../../src/providers/index.ts';
import { asAsked } from '../providers/support.ts';
import { testConfig, testRequest } from './support.ts';
import { testBuyer } from '../support/buyer.ts';

interface Fact {
  readonly credentials: number;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly serves: boolean;
  readonly permitted: boolean;
  readonly broken: number;
}

const fact: fc.Arbitrary<Fact> = fc.record({
  credentials: fc.integer({ min: 1, max: 3 }),
  priority: fc.integer({ min: 0, max: 2 }),
  weight: fc.integer({ min: 1, max: 10 }),
  enabled: fc.boolean(),
  serves: fc.boolean(),
  permitted: fc.boolean(),
  broken: fc.integer({ min: 0, max: 7 }),
});

const idOf = (index: number): string => `ch${index}`;
const isBroken = ({ broken }: Fact, credential: number): boolean => ((broken >> credential) & 1) === 1;

function configOf(facts: readonly Fact[]): GatewayConfig {
  const [template] = testConfig.channels;
  if (template === undefined) throw new Error('the test configuration has a channel');
  return {
    ...testConfig,
    channels: facts.map((channel, index) => ({
      ...template,
      id: idOf(index),
      enabled: channel.enabled,
      priority: channel.priority,
      weight: channel.weight,
      credentials: Array.from({ length: channel.credentials }, (_, n) => ({ id: `k${n}`, api_key: 'x' })),
      models: channel.serves ? template.models : {},
    })),
  };
}

function planOf(facts: readonly Fact[]) {
  const config = configOf(facts);
  const catalogue = createCatalogue({
    current: () => config,
    providers,
    random: Math.random,
    outage: (channel, credential) => {
      const found = facts[Number(channel.id.slice(2))];
      return found !== undefined && isBroken(found, Number(credential.slice(1)))
        ? { channel: channel.id, reason: 'circuit_open', detail: `credential ${credential}` }
        : undefined;
    },
  });
  const channels = facts.flatMap(({ permitted }, index) => (permitted ? [idOf(index)] : []));
  const caller: Buyer = { ...testBuyer, channels };
  try {
    return { plan: catalogue.plan(asAsked(testRequest), caller) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { error };
  }
}

it('a reload changes the channels even of a model whose entry did not change', () => {
  let config = testConfig;
  const catalogue = createCatalogue({ current: () => config, providers, random: () => 0.5 });
  const channels = () =>
    catalogue.plan(asAsked(testRequest), testBuyer).candidates.map(({ channel }) => channel);
  const before = channels();
  const renamed = testConfig.channels.map((channel) => ({ ...channel, id: `${channel.id}-new` }));
  config = { ...testConfig, channels: renamed };
  expect(channels()).toEqual(before.map((id) => `${id}-new`));
});

describe('the seconds of a plan', () => {
  const secondsOf = (duration: Duration, unit: 'second' | 'call') => {
    const models = testConfig.models.map((model) => ({
      ...model,
      price: { ...model.price, lines: [{ measure: unit, price: '1' }] },
    }));
    const current = () => ({ ...testConfig, models });
    const catalogue = createCatalogue({ current, providers, random: Math.random });
    return catalogue.plan(asAsked({ ...testRequest, duration }), testBuyer).seconds;
  };

  it.each(['second', 'call'] as const)('are those that were asked for: %s', (unit) => {
    expect(secondsOf(6, unit)).toBe(6);
  });

  it('are those of the hold if the model decides and the length is priced, or else the usual ones', () => {
    const { durations } = testConfig.models[0] ?? {};
    expect([secondsOf('auto', 'second'), secondsOf('auto', 'call')]).toEqual([
      durations?.max,
      durations?.default,
    ]);
  });
});

describe('a channel without a running worker', () => {
  const planWith = (isServed: (channel: string) => boolean) => {
    const [channel] = testConfig.channels;
    if (channel === undefined) throw new Error('no channel');
    const config = { ...testConfig, channels: [channel, { ...channel, id: 'new' }] };
    const catalogue = createCatalogue({ current: () => config, providers, random: Math.random, isServed });
    return catalogue.plan(asAsked(testRequest), testBuyer);
  };

  it('is in no plan while another channel has one', () => {
    const { candidates, dropped } = planWith((id) => id !== 'new');
    expect(candidates.map(({ channel }) => channel)).toEqual(['ark']);
    expect(dropped).toMatchObject([{ channel: 'new', reason: 'no_worker' }]);
  });

  it('is temporarily refused if it is the only one', () => {
    expect(() => planWith(() => false)).toThrow('out of service at the moment');
  });
});

describe('the route plan', () => {
  it('contains exactly the credentials that may and can serve the request, each once', () => {
    fc.assert(
      fc.property(fc.array(fact, { minLength: 1, maxLength: 6 }), (facts) => {
        const able = facts.flatMap((channel, index) =>
          channel.enabled && channel.serves && channel.permitted
            ? Array.from({ length: channel.credentials }, (_, n) => ({
                id: `${idOf(index)}/k${n}`,
                broken: isBroken(channel, n),
              }))
            : [],
        );
        const healthy = able.filter(({ broken }) => !broken);
        const expected = (healthy.length > 0 ? healthy : able).map(({ id }) => id).sort();
        const { plan, error } = planOf(facts);
        if (expected.length === 0) {
          expect(plan).toBeUndefined();
          expect(error).toBeDefined();
          return;
        }
        const planned = plan?.candidates.map(({ channel, credential }) => `${channel}/${credential}`) ?? [];
        expect([...planned].sort()).toEqual(expected);
        const used = new Set(plan?.candidates.map(({ channel }) => channel));
        const explained = new Set(plan?.dropped.map(({ channel }) => channel));
        facts.forEach((_, index) => expect(used.has(idOf(index)) || explained.has(idOf(index))).toBe(true));
        const priorities = plan?.candidates.map(
          ({ channel }) => facts[Number(channel.slice(2))]?.priority ?? -1,
        );
        expect(priorities).toEqual([...(priorities ?? [])].sort((a, b) => b - a));
      }),
      { numRuns: 500 },
    );
  });

  it('is explained even if no candidate is left', () => {
    const fact = { credentials: 1, priority: 0, weight: 1, serves: true, permitted: true, broken: 0 };
    const config = configOf([{ ...fact, enabled: false }]);
    const catalogue = createCatalogue({ current: () => config, providers, random: Math.random });
    expect(explainRoute(catalogue, { request: asAsked(testRequest), buyer: testBuyer }, [])).toEqual({
      candidates: [],
      dropped: [{ channel: 'ch0', reason: 'disabled', detail: 'is switched off' }],
      health: [],
      refusal: { code: 'service_unavailable', message: expect.any(String) },
    });
  });

  it('draws the first channel by weight', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 5 }),
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        (weights, seed) => {
          const draws = 4000;
          const random = seeded(seed);
          const channels: RouteChannel[] = weights.map((weight, index) => ({
            id: idOf(index),
            priority: 0,
            weight,
            credentials: ['k'],
          }));
          const firsts = new Map<string, number>();
          for (let draw = 0; draw < draws; draw += 1) {
            const first = orderCandidates(channels, random)[0]?.channel ?? '';
            firsts.set(first, (firsts.get(first) ?? 0) + 1);
          }
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          weights.forEach((weight, index) => {
            const share = weight / total;
            // Six standard deviations of a binomial draw: the test fails by chance once in 10^9 runs.
            const tolerance = 6 * Math.sqrt((share * (1 - share)) / draws);
            expect(Math.abs((firsts.get(idOf(index)) ?? 0) / draws - share)).toBeLessThan(tolerance);
          });
        },
      ),
      { numRuns: 30 },
    );
  });
});

/** A mulberry32 generator. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
