import type { Retirements } from '../../models/facts-table.ts';

/** Uses ModelArk's names. On the other cloud, they begin with `doubao-`. */
export function arkRetired(...models: Retirements['models']): Retirements {
  return { source: 'ModelArk’s page of deprecated models', read: '2026-11-29', models };
}
