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
        '`leaving`: it accepts no new work and ends. `gone`: not heard of for 20 s; it is listed for ten minutes.',
    }),
    version: z.string().meta({ description: 'Of the product.' }),
    config: z.number().int().meta({ description: 'The version of the configuration that it runs.' }),
    config_hash: z.string(),
    refused: z
      .object({ config: z.number().int(), reasons: z.array(z.string()) })
      .nullable()
      .meta({ description: 'A newer version that it could not load, and why.' }),
    since: unixSeconds("By MongoDB's clock."),
    last_seen_at: unixSeconds("By MongoDB's clock."),
    event_loop_lag_ms: z.number().int(),
    in_flight: z.number().int().meta({ description: 'Requests of an API, activities of a worker.' }),
    unreached: z
      .array(z.object({ circuit: z.string(), text: z.string() }))
      .meta({ description: 'Upstreams that this process does not reach.' }),
    channels: z.array(z.string()).nullable().meta({ description: 'Of a worker: those that it serves.' }),
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
