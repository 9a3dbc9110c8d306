import type { Command } from 'commander';
import { z } from 'zod';
import { dayMs } from '../base/times.ts';
import type { Row } from './admin-client.ts';
import { lookCommand, type CliContext } from './context.ts';
import { examples } from './program.js';

const originSchema = z.object({ source: z.string(), read: z.string() });
const modelSchema = z.object({
  id: z.string(),
  channels: z.array(
    z.object({
      channel: z.string(),
      upstream: z.string(),
      enabled: z.boolean(),
      facts: originSchema.nullable(),
      retirement: originSchema.extend({ on: z.string() }).nullable(),
    }),
  ),
});
const table = {
  columns: ['channel', 'model', 'upstream', 'state', 'retired', 'age_days', 'source'],
  more: ['read', 'retired_source', 'enabled'],
};
/** In display order. Models that an operator has to replace come first. */
const states = ['shut down', 'ends', 'served', 'configured'] as const;

export function addVendorCheck(vendors: Command, context: CliContext): void {
  vendors
    .command('check')
    .description(
      'For every model of every channel, shows whether its vendor has shut it down or announced a shutdown, and how old the facts about the model are. Exits with status 1 if an active channel has a model that was shut down.',
    )
    .addHelpText('after', examples('vendors check'))
    .action(
      lookCommand(context, async ({ client, output }) => {
        const { rows } = await client.list('/models', {});
        const checked = rows.flatMap((row) => checkedModels(row, context.now()));
        checked.sort((one, other) => states.indexOf(one.state) - states.indexOf(other.state));
        output.rows(checked, table);
        const gone = checked.filter(({ state, enabled }) => state === 'shut down' && enabled);
        if (gone.length === 0) return;
        output.note('Replace the models that are shut down, or remove them from gateway.yaml.');
        context.fail(1);
      }),
    );
}

function checkedModels(row: Row, now: number) {
  const { id: model, channels } = modelSchema.parse(row);
  return channels.map(({ channel, upstream, enabled, facts, retirement }) => ({
    channel,
    model,
    upstream,
    enabled,
    state: stateOf({ facts, retirement }, now),
    retired: retirement?.on ?? null,
    retired_source: retirement?.source ?? null,
    source: facts?.source ?? null,
    read: facts?.read ?? null,
    age_days: facts === null ? null : Math.floor((now - Date.parse(facts.read)) / dayMs),
  }));
}

type Offer = Pick<z.output<typeof modelSchema>['channels'][number], 'facts' | 'retirement'>;

/** `configured` means that the adapter has no facts about the model, so they come from gateway.yaml. */
function stateOf({ facts, retirement }: Offer, now: number): (typeof states)[number] {
  if (retirement !== null) return Date.parse(retirement.on) <= now ? 'shut down' : 'ends';
  return facts === null ? 'configured' : 'served';
}
