import type { Retirements } from '../../models/facts-table.ts';

/**
 * Returns retirement dates from the Gemini API's page. Each date is the earliest possible shutdown. Vertex lists the
 * same dates for Veo 2 and 3.
 */
export function googleRetired(...models: Retirements['models']): Retirements {
  return { source: 'the vendor’s deprecations page for the Gemini API', read: '2026-10', models };
}
