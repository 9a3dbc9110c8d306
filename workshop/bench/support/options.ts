import { parseArgs } from 'node:util';

export interface BenchOptions {
  readonly name: string;
  /** Makes the run short, just to show that the benchmark works. Its numbers mean nothing. */
  readonly quick: boolean;
  readonly profile: boolean;
  readonly seconds: number | undefined;
  readonly count: number | undefined;
  readonly connections: readonly number[] | undefined;
  readonly processes: readonly number[] | undefined;
  readonly rounds: number | undefined;
  readonly only: readonly string[] | undefined;
  readonly command: string;
}

export const usage = `npm run bench -- <name> [--quick] [--profile] [--seconds n] [--count n] [--connections 1,16,64] [--processes 1,2,4] [--rounds n] [--only part,…]`;

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
      processes: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
    },
  });
  return {
    name: positionals[0] ?? '',
    quick: values.quick,
    profile: values.profile,
    seconds: positive(values.seconds, '--seconds'),
    count: positive(values.count, '--count'),
    connections: listOf(values.connections, '--connections'),
    processes: listOf(values.processes, '--processes'),
    rounds: positive(values.rounds, '--rounds'),
    only: values.only?.split(','),
    command: ['npm run bench --', ...argv].join(' '),
  };
}

function listOf(text: string | undefined, option: string): readonly number[] | undefined {
  return text?.split(',').map((part) => positive(part, option) ?? 1);
}

function positive(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${option} must be a number above 0`);
  return value;
}
