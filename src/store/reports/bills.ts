import type { Collection, Filter, WithId } from 'mongodb';
import { jobKey } from '../../task/attempt.ts';
import type { BilledTask } from '../../bills/expected-bill.ts';
import { sortKey, type TaskDocument } from '../task-document.ts';

export interface BilledPage {
  readonly tasks: readonly BilledTask[];
  readonly next?: string;
}

/** Covers a channel's tasks by creation time, in Unix milliseconds. `before` is exclusive. */
export interface BilledSpan {
  readonly channel: string;
  readonly from: number;
  readonly before: number;
  readonly limit: number;
  readonly after?: string | undefined;
}

const projection = {
  sort: 1,
  account: 1,
  model: 1,
  output: 1,
  status: 1,
  attempts: 1,
  completedAt: 1,
  cost: 1,
  costUnknown: 1,
  'state.at': 1,
  'outcome.kind': 1,
  'outcome.cost': 1,
} as const;

type Found = WithId<Omit<BilledTask, 'id'> & Pick<TaskDocument, 'sort'>> & { readonly _id: string };

export function taskBills(tasks: Collection<TaskDocument>) {
  async function page(
    name: 'sort' | 'unclaimed',
    filter: Filter<TaskDocument>,
    { from, before, limit, after }: BilledSpan,
  ): Promise<BilledPage> {
    const end = sortKey(before, '');
    const range = { $gte: sortKey(from, ''), $lt: after !== undefined && after < end ? after : end };
    const found = await tasks
      .find<Found>({ ...filter, [name]: range }, { projection })
      .sort({ [name]: -1 })
      .limit(limit + 1)
      .toArray();
    const next = found.length > limit ? found[limit - 1]?.sort : undefined;
    return { tasks: found.slice(0, limit).map(toBilled), ...(next === undefined ? {} : { next }) };
  }

  return {
    listBilled: (span: BilledSpan) => page('sort', { channel: span.channel }, span),

    /** Returns tasks with an attempt at the channel whose job is unknown. There are only a few. */
    listUnclaimed: (span: BilledSpan) => page('unclaimed', { 'attempts.channel': span.channel }, span),

    async findBilled(channel: string, jobs: readonly string[]): Promise<BilledTask[]> {
      const keys = jobs.map((job) => jobKey(channel, job));
      return (await tasks.find<Found>({ jobs: { $in: keys } }, { projection }).toArray()).map(toBilled);
    },
  };
}

function toBilled({ _id: id, sort: _sort, ...task }: Found): BilledTask {
  return { id, ...task };
}
