import { expect, it } from 'vitest';
import type { Census } from '../../src/reports/census.ts';
import { createCensusTaker } from '../../src/observability/census.ts';

const census = { at: 1 } as Census;

function taker({ isMine = true, fails = false } = {}) {
  const seen: unknown[] = [];
  const turns = { isMine, fails };
  const { run } = createCensusTaker({
    duty: async () => turns.isMine,
    take: async () => {
      seen.push('taken');
      if (turns.fails) throw new Error('no answer');
      return census;
    },
    showCensus: (shown) => void seen.push(shown),
    onError: () => void seen.push('error'),
  });
  return { run, turns, seen };
}

it('shows its counts, and nothing once another process has the duty', async () => {
  const { run, turns, seen } = taker();
  await run();
  turns.isMine = false;
  await run();
  expect(seen).toEqual(['taken', census, undefined]);
});

it('counts nothing while another process has the duty', async () => {
  const { run, seen } = taker({ isMine: false });
  await run();
  expect(seen).toEqual([undefined]);
});

it('keeps its last counts if it cannot count, and counts at its next turn', async () => {
  const { run, turns, seen } = taker({ fails: true });
  await run();
  turns.fails = false;
  await run();
  expect(seen).toEqual(['taken', 'error', 'taken', census]);
});

it('does not begin before its previous turn has ended', async () => {
  const { run, seen } = taker();
  await Promise.all([run(), run()]);
  expect(seen).toEqual(['taken', census]);
});
