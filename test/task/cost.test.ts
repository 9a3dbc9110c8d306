import { describe, expect, it } from 'vitest';
import type { Attempt, AttemptState } from '../../src/task/attempt.ts';
import { worthOf } from '../../src/money/cost.ts';
import { costTermsOf, type CostTerms } from '../../src/money/cost-terms.ts';
import { amountMax } from '../../src/money/money.ts';
import { costOfTask, totalCost } from '../../src/task/cost.ts';
import { taskFailures } from '../../src/task/failures.ts';
import type { TaskOutcome } from '../../src/task/record.ts';

const attempt = (state: AttemptState, over: Partial<Attempt> = {}): Attempt => ({
  n: 1,
  channel: 'one',
  credential: 'a',
  state,
  marker: 'mark',
  owner: 'run',
  startedAt: 1,
  terms: { worths: { USD: '1', credits: '0.01' } },
  ...over,
});
const delivered: TaskOutcome = { kind: 'succeeded', items: [], facts: {} };
const broken: TaskOutcome = { kind: 'failed', code: 'x', message: 'x' };
const ending = { at: 'ending', ending: { kind: 'failed', error: taskFailures.cancelled } } as const;
const terms = (over: Partial<CostTerms>) => ({ terms: { worths: {}, ...over } });

const known = (cost: bigint) => ({ cost, unknown: 0 });
const unknown = { cost: 0n, unknown: 1 };

describe('what a task cost', () => {
  const rules = 7n;
  it.each<[string, Parameters<typeof costOfTask>[0], object]>([
    [
      'is the upstream’s own number',
      {
        attempts: [attempt('accepted')],
        outcome: { ...delivered, cost: { amount: '12.5', unit: 'credits' } },
        state: ending,
      },
      known(125_000n),
    ],
    [
      'is what the rules say where its unit is worth nothing that is known',
      {
        attempts: [attempt('accepted')],
        outcome: { ...delivered, cost: { amount: '12', unit: 'points' } },
        state: ending,
      },
      known(rules),
    ],
    [
      'is what the rules say',
      { attempts: [attempt('accepted')], outcome: delivered, state: ending },
      known(rules),
    ],
    [
      'of a failed job is not known unless somebody says it',
      { attempts: [attempt('accepted')], outcome: broken, state: ending },
      unknown,
    ],
    [
      'of a failed job is its number',
      {
        attempts: [attempt('accepted')],
        outcome: { ...broken, unbilled: true, cost: { amount: '1', unit: 'USD' } },
        state: ending,
      },
      known(1_000_000n),
    ],
    [
      'of a failed job is nothing where its vendor promises that',
      { attempts: [attempt('accepted')], outcome: { ...broken, unbilled: true }, state: ending },
      known(0n),
    ],
    [
      'of a failed job is nothing where the configuration says so',
      { attempts: [attempt('accepted', terms({ failed: 'free' }))], outcome: broken, state: ending },
      known(0n),
    ],
    [
      'of a failed job is what the rules say where it is billed',
      { attempts: [attempt('accepted', terms({ failed: 'billed' }))], outcome: broken, state: ending },
      known(rules),
    ],
    [
      'is nothing when the upstream has cancelled it',
      { attempts: [attempt('accepted')], state: ending },
      known(0n),
    ],
    [
      'is not known of a job that nobody has seen the end of',
      {
        attempts: [attempt('accepted')],
        state: { at: 'ending', ending: { kind: 'failed', error: taskFailures.expired } },
      },
      unknown,
    ],
    [
      'is what the rules say where an operator has completed a lost one',
      { attempts: [attempt('lost')], outcome: delivered, state: ending },
      known(rules),
    ],
  ])('%s', (_, task, expected) => {
    expect(costOfTask(task, rules)).toEqual(expected);
  });

  it.each<[AttemptState, boolean]>([
    ['sending', false],
    ['lost', false],
    ['abandoned', false],
    ['failed', true],
    ['rejected', true],
    ['not_accepted', true],
  ])('counts an earlier attempt that is %s: known %s', (state, isKnown) => {
    const task = {
      attempts: [attempt(state), attempt('accepted', { n: 2 })],
      outcome: delivered,
      state: ending,
    };
    expect(costOfTask(task, 7n)).toEqual({ cost: 7n, unknown: isKnown ? 0 : 1 });
  });

  it('counts a stray job as one that may be billed', () => {
    const stray = attempt('abandoned', { stray: { id: 'late' } });
    const task = { attempts: [stray, attempt('accepted', { n: 2 })], outcome: delivered, state: ending };
    expect(costOfTask(task, 7n).unknown).toBe(2);
  });
});

it('an amount beyond the ledger’s limit is treated as unknown', () => {
  expect(totalCost([amountMax])).toEqual({ cost: amountMax, unknown: 0 });
  expect(totalCost([amountMax, 1n, undefined])).toEqual({ cost: 0n, unknown: 3 });
});

it.each<[string, string, bigint | undefined]>([
  ['1', '0.01', 10_000n],
  ['0.000000500000000', '1', 1n],
  ['0.000000499999999', '1', 0n],
  ['999999999999999.999999999999999', '1', 1_000_000_000_000_000_000_000n],
  ['1e3', '1', undefined],
  ['1', '', undefined],
])('%s units at %s are %s', (amount, worth, expected) => {
  expect(worthOf({ amount, unit: 'u' }, { u: worth })).toBe(expected);
});

describe('the terms of an attempt', () => {
  const rules = (price: string) => ({ minimum: '0', lines: [{ measure: 'call' as const, price }] });
  const channel = {
    cost: rules('1'),
    cost_units: { credits: '0.01' },
    models: { own: { cost: { ...rules('2'), failed: 'billed' as const } }, plain: {} },
  };

  it('are the model’s, otherwise the channel’s', () => {
    const worths = { USD: '1', credits: '0.01' };
    expect(costTermsOf(channel, 'own', 'USD')).toEqual({ price: rules('2'), worths, failed: 'billed' });
    expect(costTermsOf(channel, 'plain', 'USD')).toEqual({ price: rules('1'), worths });
    expect(costTermsOf({ cost_units: {}, models: {} }, 'plain', 'EUR')).toEqual({ worths: { EUR: '1' } });
  });

  it('contain a different value of the currency itself, if an operator sets one', () => {
    expect(costTermsOf({ cost_units: { USD: '0.9' }, models: {} }, 'm', 'USD').worths).toEqual({
      USD: '0.9',
    });
  });
});
