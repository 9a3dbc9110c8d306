import { copyTimes } from '../src/base/activity-times.ts';
import { defined } from '../src/base/defined.ts';
import { formatAmount } from '../src/money/money.ts';
import { isPossibleIn, refusalWords } from '../src/operating/acts.ts';
import type { ActionEvent, OperatorActionName, RunningActionName, Said } from '../src/operating/acts.ts';
import { planRefusal, resultOf } from '../src/commands/act-plan.ts';
import type { ActionInput } from '../src/operating/act-fields.ts';
import { forgottenWords, unsearchableWords } from '../src/operating/advice.ts';
import { proposedCharge, situation, standingOf } from '../src/operating/situation.ts';
import { attemptAt, isLost, type EventOf, type StateName } from '../src/task/state.ts';
import { next } from '../src/task/next.ts';
import type { Task } from '../src/task/record.ts';
import type { ResultItem } from '../src/task/task.ts';
import type { SettleFacts } from '../src/money/settle-facts.ts';
import { linkHeadersOf } from '../src/routing/channels.ts';
import { withInputSeconds } from '../src/routing/measured-facts.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { checkNamedJob } from './find-lost-job.ts';
import { agreedCharge } from './settlement.ts';
import { knownOf, viewOf } from './task-view.ts';
import type { ActReply, ActRequest } from './types.ts';

/** What an action would do. Its event must be one that the action table allows for the action. */
interface Proposal<Name extends RunningActionName = RunningActionName> extends Said {
  readonly event: EventOf<ActionEvent<Name>>;
  readonly note?: string;
}

interface Refused {
  readonly refused: string;
}

async function named(request: ActRequest, { cancelRequest }: Deps): Promise<ActRequest> {
  const { at = request.at, ...said } = (await cancelRequest(request.task)) ?? {};
  return { ...request, at, input: { ...request.input, ...said } };
}

type Deps = ChannelActivityDeps;

/**
 * Carries out operators' actions and callers' cancellations. The action and the change it causes are written to the
 * record in one step, so neither can exist without the other.
 */
export function createActOnTask(deps: Deps) {
  const { tasks, requests, slots, keySlots } = deps;

  return async function actOnTask(asked: ActRequest): Promise<ActReply> {
    const request = asked.isCancelRequest === true ? await named(asked, deps) : asked;
    const { task, id, at, action, input } = request;
    const by = request.isCallers === true ? undefined : deps.actorOf({ ...request, by: input.by });
    // No audit entry is needed: the API already logs its own actions, and neither callers' cancellations nor dry runs
    // are audited.
    if (by === undefined || by === input.by || input.dry_run === true) return act(request, by);
    const { reason, by: _by, ...fields } = input;
    const sent = { by, via: 'temporal', action, target: task, task, reason, input: fields } as const;
    return deps.auditLog.keep(
      { ...sent, key: { id, at, isOurs: asked.isCancelRequest === true } },
      () => act(request, by),
      (reply) => (reply.done ? undefined : reply.message),
    );
  };

  async function act(request: ActRequest, by: string | undefined): Promise<ActReply> {
    const { task: id, action, input } = request;
    // A refusal is final, so check the confirmed record rather than a cached copy.
    const task = await tasks.confirm(id);
    if (task === undefined) return { done: false, message: 'The task has no record.' };
    // Match the action's name as well as its id, because users of Temporal's tools choose the id and may reuse it.
    const earlier = task.actions?.find((one) => one.id === request.id && one.action === action);
    if (earlier !== undefined) {
      // An earlier run may have died after recording the action but before extending the lifetime of the task's request
      // and slots.
      await keepAlong(task, request);
      return { done: true, view: viewOf(task, deps), said: { did: { task: earlier.detail, money: '' } } };
    }
    const refusal = refusalOf(task, action, deps);
    if (refusal !== undefined) return { done: false, message: refusal };
    const planned = { id, rev: task.rev, action, input };
    const outdated = planRefusal(planned);
    if (outdated !== undefined) return { done: false, message: `${outdated} Nothing was changed.` };
    const proposal = await proposals[action](task, request, deps);
    if ('refused' in proposal) return { done: false, message: `${proposal.refused} Nothing was changed.` };
    const { event, note = '', ...said } = proposal;
    const result = resultOf(said, planned);
    if (input.dry_run === true) {
      const decided = next(task, event, deps.now());
      return decided.ok
        ? { done: true, view: viewOf(task, deps), said: result }
        : { done: false, message: decided.message };
    }
    const detail = `${said.task}${note}`;
    const written = { id: request.id, at: deps.now(), action, reason: input.reason, detail };
    const rev = input.plan === undefined ? undefined : task.rev;
    const stepped = await tasks.step(
      id,
      event,
      by === undefined ? undefined : { ...written, by, ...defined({ rev }) },
    );
    if (!stepped.ok) return { done: false, message: stepped.message };
    await keepAlong(stepped.task, request);
    return { done: true, view: viewOf(stepped.task, deps), said: result };
  }

  async function keepAlong({ id, key, deadlineAt }: Task, { action }: ActRequest): Promise<void> {
    if (action !== 'extend') return;
    await Promise.all([
      requests.keepUntil(id, deadlineAt),
      slots.keepUntil(id, deadlineAt),
      keySlots.keepUntil(key, { task: id, until: deadlineAt }),
    ]);
  }
}

type Proposed<Name extends RunningActionName> = Proposal<Name> | Refused;
type Proposals = {
  readonly [Name in RunningActionName]: (
    task: Task,
    request: ActRequest,
    deps: Deps,
  ) => Proposed<Name> | Promise<Proposed<Name>>;
};

const proposals: Proposals = {
  retry_now: retryNow, adopt, resubmit, fail, cancel, complete, extend, accept_charge: acceptCharge, undo,
}; // prettier-ignore

function refusalOf(task: Task, action: RunningActionName, deps: Deps): string | undefined {
  const { at } = task.state;
  return isPossibleIn(action, at)
    ? undefined
    : refusalWords(action, { at, possible: possibleNow(task, deps) });
}

function possibleNow(task: Task, deps: Deps): readonly OperatorActionName[] {
  return situation({ ...standingOf(task), ...knownOf(task, deps) }).actions.map(({ name }) => name);
}

function holdStays({ hold }: Task, { currency }: ActRequest): string {
  return `The hold of ${formatAmount(hold, currency)} does not change.`;
}

/** A dry run cannot predict the result, because the upstream decides whether to cancel only when it is asked to. */
function cancel(): Proposal<'cancel'> {
  return {
    event: { kind: 'wanted', stop: 'cancel' },
    task: 'The task is cancelled if its upstream still allows it.',
    money: 'The hold is released in full, and nothing is charged.',
  };
}

function extend(task: Task, request: ActRequest): Proposal<'extend'> {
  const { seconds = 0 } = request.input;
  const deadline = new Date(task.deadlineAt + seconds * 1000).toISOString();
  const money = holdStays(task, request);
  return { event: { kind: 'extended', seconds }, task: `The deadline is ${deadline}.`, money };
}

function fail({ state, hold }: Task, { currency }: ActRequest): Proposal<'fail'> {
  const event = { kind: 'wanted', stop: 'fail' } as const;
  if (state.at === 'review' && state.why === 'unreleased') {
    const money = 'Nothing is charged. The hold stays in the ledger until the ledger is repaired.';
    return { event, task: 'The task fails, even though its hold cannot be released.', money };
  }
  return {
    event,
    task: 'The task fails with internal_error, and the upstream is asked to cancel any running job.',
    money: `The hold of ${formatAmount(hold, currency)} is released in full, and nothing is charged.`,
  };
}

function retryNow(task: Task, request: ActRequest, deps: Deps): Proposed<'retry_now'> {
  const money = holdStays(task, request);
  const { at } = task.state;
  const { marker = '' } = attemptAt(task.state, task.attempts) ?? {};
  if (knownOf(task, deps).isUnsearchable === true)
    return { refused: unsearchableWords(possibleNow(task, deps)) };
  const search = `The upstream is searched for the marker ${marker}.`;
  const said: Partial<Record<StateName, string>> = {
    pausing: 'The planned channels are retried.',
    searching: search,
    asking: search,
    creating: 'The submission is attempted immediately.',
    queued: 'The submission is attempted immediately.',
    sending: 'The submission is attempted immediately.',
    stopping: 'The upstream is being asked to end the job.',
    review: 'The gateway tries to settle the task again.',
  };
  const resumes = at === 'pausing' || at === 'broken' || isLost(task.state) || at === 'review';
  const kind = resumes ? 'resumed' : 'acted';
  return { event: { kind }, task: said[at] ?? 'The upstream is polled immediately.', money };
}

async function adopt(task: Task, request: ActRequest, deps: Deps): Promise<Proposed<'adopt'>> {
  const attempt = attemptAt(task.state, task.attempts);
  if (attempt === undefined) return { refused: 'The task has no submission with an unknown outcome.' };
  const id = request.input.upstream_id ?? '';
  const named = await checkNamedJob(task, { attempt, id }, deps);
  if ('refused' in named) return named;
  return {
    event: { kind: 'adopted', operation: named.operation },
    task: `The task adopts the job ${id} of ${attempt.channel}, where its state is ${named.state}.`,
    money: `${holdStays(task, request)} The charge depends on what the job reports.`,
  };
}

async function resubmit(task: Task, request: ActRequest, { requests }: Deps): Promise<Proposed<'resubmit'>> {
  if ((await requests.find(task.id)) === undefined) return { refused: forgottenWords };
  const { channel } = request.input;
  const attempt = attemptAt(task.state, task.attempts);
  const lostAt = attempt?.channel ?? '';
  return {
    event: { kind: 'resubmitted', ...defined({ channel }) },
    task: `The task is submitted to ${channel ?? lostAt} again. If ${lostAt} accepted the first submission, cancel its job there.`,
    note: ` Its marker is ${attempt?.marker ?? ''}.`,
    money: `${holdStays(task, request)} The hold covers one job, but if the first submission was accepted, the upstream bills two.`,
  };
}

async function complete(task: Task, request: ActRequest, deps: Deps): Promise<Proposed<'complete'>> {
  const { input, basis } = request;
  const facts = withInputSeconds(factsOf(input), task.inputSeconds);
  const [items, { settlement }] = await Promise.all([
    openResult(task, input, deps),
    agreedCharge(task, facts, { basis, deps }),
  ]);
  if ('refused' in items) return items;
  return {
    event: {
      kind: 'completed',
      outcome: { kind: 'succeeded', items, facts },
      charge: settlement.amount.toString(),
    },
    task: 'The task succeeds with the given result.',
    money: `${formatAmount(settlement.amount, request.currency)} is charged; ${formatAmount(task.hold, request.currency)} is held.`,
  };
}

/** Checks that the result can be read before anyone is charged for it. A dry run only opens it and copies nothing. */
async function openResult(
  task: Task,
  { result_url: url = '', dry_run: isDryRun }: ActionInput,
  deps: Deps,
): Promise<readonly ResultItem[] | Refused> {
  const { id, kind, model, channel = '', credential = '' } = task;
  const problem = await withHeartbeat(deps.canOpen(channel, url));
  if (problem !== undefined) return { refused: unopened(problem) };
  if (isDryRun === true) return [{ url }];
  const headersFor = linkHeadersOf(deps.channels, { kind, model, channel, credential });
  const delivery = deps.deliver(id, [{ url }], { timeoutMs: copyTimes.completeMs, channel, headersFor });
  const { items, problem: changed } = await withHeartbeat(delivery);
  return changed === undefined ? items : { refused: unopened(changed.message) };
}

function unopened(why: string): string {
  return `The result URL cannot be opened (${why}).`;
}

function factsOf({ duration, resolution, total_tokens: totalTokens, images }: ActionInput): SettleFacts {
  return defined({
    durationSeconds: duration,
    resolution,
    images,
    usage: totalTokens === undefined ? undefined : { completionTokens: totalTokens, totalTokens },
  });
}

function acceptCharge(task: Task, request: ActRequest): Proposal<'accept_charge'> {
  const charge = proposedCharge(task.state) ?? 0n;
  return {
    event: { kind: 'approved' },
    task: 'The task succeeds.',
    money: `${formatAmount(charge, request.currency)} is charged; ${formatAmount(task.hold, request.currency)} was held.`,
  };
}

function undo(task: Task, request: ActRequest): Proposal<'undo'> {
  const id = attemptAt(task.state, task.attempts)?.operation?.id ?? '';
  return {
    event: { kind: 'undone' },
    task: `The job ${id} is removed from the task, which then needs an operator again.`,
    money: holdStays(task, request),
  };
}
