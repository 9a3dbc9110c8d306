import type { Retirements } from '../../models/facts-table.ts';

/**
 * `models` uses the names of ModelArk, whose page contains the dates. On the other cloud, the same names begin with
 * `doubao-`.
 */
export function arkRetired(...models: Retirements['models']): Retirements {
  return { source: 'ModelArk’s page of deprecated models', read: '2026-11-29', models };
}
