import type { FactsOrigin } from '../../src/models/facts-table.ts';

export const testOrigin: FactsOrigin = { source: 'a test', read: '2026-11' };
