import { z } from 'zod';
import type { Row } from './admin-client.ts';
import type { CliContext } from './context.ts';
import type { Output } from './output.ts';

/** Sets the exit status to 1 if any process could not load the version. */
export function showPublished(published: Row, output: Output, context: CliContext): void {
  output.item(published, withNodes(published));
  if (nodesOf(published).some(({ refused }) => refused !== null)) context.fail(1);
}

export function withNodes({ object: _object, ...config }: Row): Row {
  const nodes = nodesOf(config).map(({ id, state, config: runs, refused }) => ({ id, state, runs, refused }));
  return { ...config, nodes };
}

const nodesSchema = z.object({ nodes: z.array(z.record(z.string(), z.unknown())) });

function nodesOf(config: Row): readonly Row[] {
  return nodesSchema.parse(config).nodes;
}
