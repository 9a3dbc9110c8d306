import type { NotStoredError } from '../errors/not-stored.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { RoutePlan } from './catalogue.ts';
import { mustBeCopied, type Channels } from './channels.ts';

export type StorageRefusal = () => Promise<NotStoredError | undefined>;

/**
 * Drops channels whose results must be stored if the storage accepts no files, because we would pay for results that
 * cannot be delivered. Throws the storage's error if no other channel is left. A task that moves to a fallback channel
 * checks the storage again.
 */
export async function withStorage(
  plan: RoutePlan,
  needsStorage: (channel: string) => boolean,
  storageRefusal: StorageRefusal,
): Promise<RoutePlan> {
  const candidates = plan.candidates.filter(({ channel }) => !needsStorage(channel));
  if (candidates.length === plan.candidates.length) return plan;
  const refusal = await storageRefusal();
  if (refusal === undefined) return plan;
  if (candidates.length === 0) throw refusal;
  return { ...plan, candidates };
}

export function answersWithData({ serving }: Pick<RoutePlan, 'serving'>, channel: string): boolean {
  return serving.get(channel)?.facts.data_only === true;
}

interface TaskStorage {
  readonly channels: Channels;
  readonly storageRefusal: StorageRefusal;
}

export function withStorageForTask(
  plan: RoutePlan,
  kind: TaskKind,
  { channels, storageRefusal }: TaskStorage,
): Promise<RoutePlan> {
  const isCopied = (channel: string) => mustBeCopied(channels, { channel, kind });
  return withStorage(plan, (channel) => answersWithData(plan, channel) || isCopied(channel), storageRefusal);
}
