import type { Task } from '../src/domain/task-record.ts';
import type { ResultItem } from '../src/domain/task.ts';
import { linkHeadersOf } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';

/** A copy of the result is made within this, or the link is delivered as it is. */
const copyMaxMs = 20_000;

export interface GivenResult {
  readonly url: string;
  /** It is looked at, and not copied. */
  readonly isDryRun: boolean;
}

/** The result that an operator gives: looked at before anybody is charged for it. */
export async function openResult(
  task: Task,
  { url, isDryRun }: GivenResult,
  deps: Pick<ChannelActivityDeps, 'canOpen' | 'copyResults' | 'channels'>,
): Promise<{ readonly items: readonly ResultItem[] } | { readonly refused: string }> {
  const problem = await withHeartbeat(deps.canOpen(url));
  if (problem !== undefined) return { refused: `The result’s address cannot be opened (${problem}).` };
  if (isDryRun) return { items: [{ url }] };
  const { id, kind, model, channel = '', credential = '' } = task;
  const headersFor = linkHeadersOf(deps.channels, { kind, model, channel, credential });
  return {
    items: await withHeartbeat(deps.copyResults(id, [{ url }], { timeoutMs: copyMaxMs, headersFor })),
  };
}
