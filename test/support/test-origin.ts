import type { FactsOrigin } from '../../src/models/facts-table.ts';

/** The origin of tables that tests make. */
export const testOrigin: FactsOrigin = { source: 'a test', read: '2026-11' };
