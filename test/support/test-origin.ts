import type { FactsOrigin } from '../../src/models/facts-table.ts';

/** Where the tests' fact tables come from. */
export const testOrigin: FactsOrigin = { source: 'a test', read: '2026-11' };
