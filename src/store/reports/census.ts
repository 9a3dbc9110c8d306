import type { Collection } from 'mongodb';
import { attentionReasons, type AttentionReason } from '../../task/attention.ts';
import type {
  AttentionCount,
  CallbackCount,
  ChannelCounts,
  Lateness,
  TaskCount,
  Throughput,
} from '../../reports/census.ts';
import { defined } from '../../base/defined.ts';
import type { FailureClass } from '../../errors/failure.ts';
import { taskStatuses, unfinishedStatuses, type TaskStatus } from '../../task/task.ts';
import { isWaitReason } from '../../task/wait.ts';
import { sortKey, type EndKind, type TaskDocument } from '../task-document.ts';
import { endKinds } from '../task-query.ts';

const limit = { maxTimeMS: 10_000 };

/** `since` is the earliest time among the counted tasks, in Unix milliseconds. */
interface Row<Kind> {
  readonly _id: Kind;
  readonly count: number;
  readonly since: number;
}

/** Each count reads only a small index. */
export function taskCensus(tasks: Collection<TaskDocument>) {
  function rowsOf<Kind>($match: object, _id: object, since: unknown = '$stateSince'): Promise<Row<Kind>[]> {
    const $group = { _id, count: { $sum: 1 }, since: { $min: since } };
    return tasks.aggregate<Row<Kind>>([{ $match }, { $group }], limit).toArray();
  }

  return {
    async countUnfinished(): Promise<TaskCount[]> {
      const unfinished = { status: { $in: unfinishedStatuses } };
      const rows = await rowsOf<Pick<TaskCount, 'state' | 'channel' | 'wait'>>(unfinished, taskKind);
      return rows.map(({ _id, ...row }) => ({
        ..._id,
        ...row,
        wait: isWaitReason(_id.wait) ? _id.wait : '',
      }));
    },

    async countAttention(): Promise<AttentionCount[]> {
      const kind = { reason: '$attention', channel: { $ifNull: ['$channel', ''] } };
      const asking = { attention: { $in: attentionReasons } };
      const rows = await rowsOf<{ readonly reason: AttentionReason; readonly channel: string }>(asking, kind);
      return rows.map(({ _id, ...row }) => ({ ..._id, ...row }));
    },

    async countSince(since: number): Promise<Throughput> {
      const createdSince = { status: { $in: taskStatuses }, sort: { $gte: sortKey(since, '') } };
      const [created, ended] = await Promise.all([
        tasks.countDocuments(createdSince, limit),
        countEnded(tasks, since),
      ]);
      return { created, ...ended };
    },

    /**
     * Measures the newest tasks that finished after `since`. Returns undefined if their vendors do not report when a
     * render ends.
     */
    latenessSince: (since: number) => measureLateness(tasks, since),

    countByChannel: (channels: readonly string[], since: number) => countByChannel(tasks, channels, since),

    /** A callback is failing once its first attempt has failed. */
    async countCallbacks(): Promise<CallbackCount[]> {
      const [rows, abandoned] = await Promise.all([
        rowsOf<boolean>({ owes: { $gt: '' } }, isFailing, owedSince),
        tasks.countDocuments({ gaveUp: { $gt: '' } }, limit),
      ]);
      const row = (fails: boolean) => {
        const { count = 0, since } = rows.find(({ _id }) => _id === fails) ?? {};
        return { count, ...defined({ since }) };
      };
      return [
        { state: 'due', ...row(false) },
        { state: 'failing', ...row(true) },
        { state: 'abandoned', count: abandoned },
      ];
    },
  };
}

async function countEnded(
  tasks: Collection<TaskDocument>,
  since: number,
): Promise<Pick<Throughput, 'succeeded' | 'failures'>> {
  const $match = { 'end.kind': { $in: endKinds }, 'end.sort': { $gte: sortKey(since, '') } };
  const $group = { _id: '$end.kind', count: { $sum: 1 } };
  const found = tasks.aggregate<Omit<Row<EndKind>, 'since'>>([{ $match }, { $group }], limit);
  const rows = await found.toArray();
  return {
    succeeded: rows.find(({ _id }) => _id === 'succeeded')?.count ?? 0,
    failures: rows.flatMap(({ _id, count }) => (_id === 'succeeded' ? [] : [{ class: _id, count }])),
  };
}

/** Measuring more tasks would not noticeably change the result. */
const measuredMax = 1_000;

async function measureLateness(
  tasks: Collection<TaskDocument>,
  since: number,
): Promise<Lateness | undefined> {
  const atOrAfter = { 'end.sort': { $gte: sortKey(since, '') }, 'end.lateMs': { $gte: 0 } };
  const found = await tasks
    .find({ 'end.kind': 'succeeded', ...atOrAfter }, { ...limit, projection: { _id: 0, 'end.lateMs': 1 } })
    .sort({ 'end.sort': -1 })
    .limit(measuredMax)
    .toArray();
  const late = found.map(({ end }) => end?.lateMs ?? 0).toSorted((a, b) => a - b);
  const at = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? 0;
  return late.length === 0 ? undefined : { tasks: late.length, p50Ms: at(0.5), p95Ms: at(0.95) };
}

interface ChannelRow {
  readonly _id: { readonly channel: string; readonly status: TaskStatus; readonly class: FailureClass | '' };
  readonly count: number;
  readonly mean: number | null;
  readonly longest: number | null;
}

async function countByChannel(
  tasks: Collection<TaskDocument>,
  channels: readonly string[],
  since: number,
): Promise<ChannelCounts[]> {
  const took = { $subtract: ['$completedAt', '$createdAt'] };
  const _id = { channel: '$channel', status: '$status', class: { $ifNull: ['$error.class', ''] } };
  const $match = { channel: { $in: channels }, sort: { $gte: sortKey(since, '') } };
  const $group = { _id, count: { $sum: 1 }, mean: { $avg: took }, longest: { $max: took } };
  const rows = await tasks.aggregate<ChannelRow>([{ $match }, { $group }], limit).toArray();
  const rowsOf = (channel: string) => rows.filter((row) => row._id.channel === channel);
  return channels.map((channel) => countsOf(channel, rowsOf(channel)));
}

function countsOf(channel: string, rows: readonly ChannelRow[]): ChannelCounts {
  const good = rows.find(({ _id }) => _id.status === 'succeeded');
  return {
    channel,
    tasks: rows.reduce((sum, { count }) => sum + count, 0),
    succeeded: good?.count ?? 0,
    failures: rows.flatMap(({ _id, count }) => (_id.class === '' ? [] : [{ class: _id.class, count }])),
    ...defined({ meanMs: good?.mean ?? undefined, longestMs: good?.longest ?? undefined }),
  };
}

const firstOf = (path: string) => ({ $arrayElemAt: [path, 0] });
const nextChannel = { $ifNull: [firstOf('$state.left.channel'), firstOf('$plan.candidates.channel')] };
const taskKind = {
  state: '$state.at',
  channel: { $ifNull: ['$channel', nextChannel] },
  wait: { $ifNull: ['$wait.cause', ''] },
};
const isFailing = { $ifNull: ['$callback.isFailing', false] };
const owedSince = { $ifNull: ['$callback.since', '$completedAt'] };
