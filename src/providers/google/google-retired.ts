import type { Retirements } from '../../models/facts-table.ts';

/**
 * The dates on the Gemini API's page are the earliest possible shutdowns. Vertex lists the same dates for Veo 2 and 3.
 */
export function googleRetired(...models: Retirements['models']): Retirements {
  return { source: 'the vendor’s deprecations page for the Gemini API', read: '2026-10', models };
}
