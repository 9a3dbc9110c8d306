import { expect, it } from 'vitest';
import type { Census } from '../../src/domain/census.ts';
import { createCensusTaker } from '../../src/observability/census.ts';

const census = { at: 1 } as Census;

function taker({ isMine = true, fails = false } = {}) {
  const seen: unknown[] = [];
  const turns = { isMine, fails };
  const { turn } = createCensusTaker({
    duty: async () => turns.isMine,
    take: async () => {
      seen.push('taken');
      if (turns.fails) throw new Error('no answer');
      return census;
    },
    showCensus: (shown) => void seen.push(shown),
    onError: () => void seen.push('error'),
  });
  return { turn, turns, seen };
}

it('shows what it counted, and nothing once the duty is another’s', async () => {
  const { turn, turns, seen } = taker();
  await turn();
  turns.isMine = false;
  await turn();
  expect(seen).toEqual(['taken', census, undefined]);
});

it('counts nothing while the duty is another’s', async () => {
  const { turn, seen } = taker({ isMine: false });
  await turn();
  expect(seen).toEqual([undefined]);
});

it('keeps what it counted last when it cannot count, and counts at its next turn', async () => {
  const { turn, turns, seen } = taker({ fails: true });
  await turn();
  turns.fails = false;
  await turn();
  expect(seen).toEqual(['taken', 'error', 'taken', census]);
});

it('does not begin before its turn before has ended', async () => {
  const { turn, seen } = taker();
  await Promise.all([turn(), turn()]);
  expect(seen).toEqual(['taken', census]);
});
