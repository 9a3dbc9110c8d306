import { expect } from 'vitest';
import type { Core } from '../../src/compose/core.ts';
import type { LedgerEntry } from '../../src/ledger/entry.ts';
import { verifyLedger, type Holder } from '../../src/ledger/verify.ts';
import { createWorkflowLookup } from '../../src/temporal/workflow-lookup.ts';

export async function expectSoundLedger({ client, environment, mongo, now, secrets }: Core): Promise<void> {
  const key = secrets.deriveKey('ledger');
  const workflows = createWorkflowLookup(client, environment.TASK_QUEUE_PREFIX);
  const holders = async (ids: readonly string[]) => {
    const live = new Map<string, Holder>();
    for (const id of ids) if (await workflows.isRunning(id)) live.set(id, 'workflow');
    return live;
  };
  expect((await verifyLedger({ db: mongo.db, key, now, holders })).violations).toEqual([]);
}

/** Leaves out holds that were released because a busy gateway answered the create with 503. */
export function keptHolds(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const givenBack = new Set(entries.flatMap(({ kind, task }) => (kind === 'release' ? [task] : [])));
  return entries.filter(({ kind, task }) => kind === 'hold' && !givenBack.has(task));
}
