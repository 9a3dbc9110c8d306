import type { Retirements } from '../../models/facts-table.ts';

/** The names are those of ModelArk. The names of the other cloud begin with `doubao-`. */
export function arkRetired(...models: Retirements['models']): Retirements {
  return { source: 'ModelArk’s page of deprecated models', read: '2026-11-29', models };
}
