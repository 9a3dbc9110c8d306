import type { FactsOrigin } from '../../src/models/facts-table.ts';

/** Of tables that are made for a test. */
export const testOrigin: FactsOrigin = { source: 'a test', read: '2026-11' };
