import type { Command } from 'commander';
import { z } from 'zod';
import { lookCommand, type CliContext } from './context.ts';

const unreachedSchema = z.array(z.object({ circuit: z.string(), text: z.string() }));

const table = {
  columns: ['id', 'state', 'config', 'since', 'last_seen_at', 'in_flight'],
  more: ['version', 'event_loop_lag_ms', 'channels'],
};

export function addNodesCommand(nodes: Command, context: CliContext): void {
  nodes.action(
    lookCommand(context, async ({ client, output }) => {
      const { rows } = await client.list('/nodes', {});
      output.rows(rows, table);
      for (const { id, refused, unreached } of rows) {
        if (refused !== null) output.note(`${String(id)} rejected ${JSON.stringify(refused)}`);
        for (const { circuit, text } of unreachedSchema.parse(unreached))
          output.note(`${String(id)}, ${circuit}: ${text}`);
      }
    }),
  );
}
