import { z } from 'zod';
import { causeOf } from '../../health/health-words.ts';
import type { Node } from '../../store/nodes.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const nodeSchema = z
  .object({
    object: z.literal('node'),
    id: z.string().meta({ description: '`<kind>/<host>/<pid>/<run>`' }),
    kind: z.enum(['api', 'worker']),
    state: z.enum(['running', 'leaving', 'gone']).meta({
      description:
        '`leaving`: the process accepts no new work and is shutting down. `gone`: the process has sent no report for 20 seconds. It stays in the list for ten minutes.',
    }),
    version: z.string().meta({ description: 'The version of Mediary.' }),
    config: z.number().int().meta({ description: 'The configuration version that the process runs.' }),
    config_hash: z.string(),
    refused: z
      .object({ config: z.number().int(), reasons: z.array(z.string()) })
      .nullable()
      .meta({ description: 'A newer version that the process could not load, and why.' }),
    since: unixSeconds("Measured by MongoDB's clock."),
    last_seen_at: unixSeconds("Measured by MongoDB's clock."),
    event_loop_lag_ms: z.number().int(),
    in_flight: z
      .number()
      .int()
      .meta({ description: 'The requests of an API process, or the activities of a worker.' }),
    unreached: z
      .array(z.object({ circuit: z.string(), text: z.string() }))
      .meta({ description: 'Upstreams that this process cannot reach.' }),
    channels: z.array(z.string()).nullable().meta({ description: 'The channels that a worker serves.' }),
  })
  .meta({ id: 'Node' });

export function presentNode(node: Node): z.output<typeof nodeSchema> {
  const { id, kind, state, version, config, since, seen, load, unreached, channels } = node;
  const { refused } = config;
  return {
    object: 'node',
    id,
    kind,
    state,
    version,
    config: config.version,
    config_hash: config.hash,
    refused: refused === undefined ? null : { config: refused.version, reasons: [...refused.reasons] },
    since: toSeconds(since),
    last_seen_at: toSeconds(seen),
    event_loop_lag_ms: load.eventLoopLagMs,
    in_flight: load.inFlight,
    unreached: unreached
      .filter((circuit) => circuit.state === 'open')
      .map((circuit) => ({ circuit: circuit.id, text: causeOf(circuit) })),
    channels: channels === undefined ? null : [...channels],
  };
}
