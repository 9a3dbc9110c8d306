import type { FactsOrigin } from '../../src/models/facts-table.ts';

/** The origin of fact tables created by tests. */
export const testOrigin: FactsOrigin = { source: 'a test', read: '2026-11' };
