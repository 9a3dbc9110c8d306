import type { Retirements } from '../../models/facts-table.ts';

/** The days are the earliest possible ones. Vertex has the same of Veo 2 and 3. */
export function googleRetired(...models: Retirements['models']): Retirements {
  return { source: 'the vendor’s page of deprecations of the Gemini API', read: '2026-10', models };
}
