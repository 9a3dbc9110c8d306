import { parseArgs } from 'node:util';

/** What is typed after `npm run bench --`. */
export interface BenchOptions {
  readonly name: string;
  /** Small and short: shows that the bench works; its numbers mean nothing. */
  readonly quick: boolean;
  /** Writes CPU profiles of our processes and prints what costs most. */
  readonly profile: boolean;
  /** Length of one measured slice in seconds. */
  readonly seconds: number | undefined;
  /** How many calls or tasks. */
  readonly count: number | undefined;
  readonly connections: readonly number[] | undefined;
  /** Times that each subject gets its turn; the middle one counts. */
  readonly rounds: number | undefined;
  /** Parts of the bench to run, where it has several; absent: all. */
  readonly only: readonly string[] | undefined;
  /** Another checkout of this repository, whose gateway is measured: instead of this one's (`fairness`), or beside it (`images`). */
  readonly checkout: string | undefined;
  readonly command: string;
}

export const usage = `npm run bench -- <name> [--quick] [--profile] [--seconds n] [--count n] [--connections 1,16,64] [--rounds n] [--only part,…] [--checkout dir]`;

export function readOptions(argv: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      count: { type: 'string' },
      connections: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
      checkout: { type: 'string' },
    },
  });
  return {
    name: positionals[0] ?? '',
    quick: values.quick,
    profile: values.profile,
    seconds: positive(values.seconds, '--seconds'),
    count: positive(values.count, '--count'),
    connections: values.connections?.split(',').map((part) => positive(part, '--connections') ?? 1),
    rounds: positive(values.rounds, '--rounds'),
    only: values.only?.split(','),
    checkout: values.checkout,
    command: ['npm run bench --', ...argv].join(' '),
  };
}

function positive(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${option} must be a number above 0`);
  return value;
}
