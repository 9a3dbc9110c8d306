import type { Retirements } from '../../models/facts-table.ts';

/** Each day is the earliest on which the model may end. Vertex names the same days for Veo 2 and 3. */
export function googleRetired(...models: Retirements['models']): Retirements {
  return { source: 'the vendor’s page of deprecations of the Gemini API', read: '2026-10', models };
}
