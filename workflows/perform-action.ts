import { ApplicationFailure, condition } from '@temporalio/workflow';
import type { FinishOutcome } from '../activities/types.ts';
import { defined } from '../src/domain/defined.ts';
import { markerOf } from '../src/domain/ids.ts';
import { refusalOf } from '../src/domain/operator-actions.ts';
import type { ActionInput, ActionResult, WorkflowActionName } from '../src/domain/operator-actions.ts';
import { activityIds } from '../src/domain/queues.ts';
import { learnJob } from './attended-submission.ts';
import { adoptJobOn, completeTaskOn, moveDeadline, undoAdoptionOn, wakeTask } from './activity-proxies.ts';
import { refusedAction } from './messages.ts';
import { acceptedJob, afterRejection, findUnreportedJob } from './submit-job.ts';
import { money, nextVersion, situationOf } from './task-run.ts';
import type { LostSubmission, TaskRun } from './task-run.ts';

/** Carries out what a validator found possible. Throws a refusal, with nothing changed, if it turns out not to be. */
export async function performAction(
  run: TaskRun,
  name: WorkflowActionName,
  input: ActionInput,
): Promise<ActionResult> {
  const action: Action = { run, input, dryRun: input.dry_run === true };
  const { task, money: amount } = await performers[name](action);
  return { dry_run: action.dryRun, task, money: amount };
}

/** `message`: a sentence for the operator. */
export function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, refusedAction);
}

interface Action {
  readonly run: TaskRun;
  readonly input: ActionInput;
  readonly dryRun: boolean;
}

type Said = Pick<ActionResult, 'task' | 'money'>;

const performers: Readonly<Record<WorkflowActionName, (action: Action) => Promise<Said>>> = {
  retry_now: retryNow,
  adopt,
  resubmit,
  fail,
  complete,
  extend,
  accept_charge: acceptCharge,
  undo,
};

function holdStays(run: TaskRun): string {
  return `The hold of ${money(run, run.input.hold)} stays as it is.`;
}

/** The deadline waits for the answer, and no second action is accepted meanwhile. */
async function exclusively<Result>(run: TaskRun, check: () => Promise<Result>): Promise<Result> {
  run.acting = true;
  try {
    return await check();
  } finally {
    run.acting = false;
  }
}

async function retryNow({ run, dryRun }: Action): Promise<Said> {
  const said = (task: string): Said => ({ task, money: holdStays(run) });
  const situation = situationOf(run);
  if (dryRun) return said('What the task waits for is tried immediately.');
  if (situation === 'lost') return said(await searchAgain(run));
  if (situation === 'broken') {
    run.decision = { kind: 'continue' };
    return said('The upstream is polled again.');
  }
  if (run.isPausing) {
    run.retryNow = true;
    return said('The channels of the plan are asked again.');
  }
  const isSubmitting = situation === 'submitting';
  const isSubmit = isSubmitting || run.attended !== undefined;
  const woken = await wakeTask(run.input.task, isSubmit ? activityIds.submit : activityIds.poll);
  if (!woken) return said('There is nothing to wake: it is being tried at this moment.');
  if (situation === 'attended') return said('It is submitted, or the upstream is polled, immediately.');
  return said(isSubmitting ? 'The submission is tried immediately.' : 'The upstream is polled immediately.');
}

function requireLost({ lost }: TaskRun): LostSubmission {
  if (lost === undefined) throw refused('The task has no submission whose outcome is unknown.');
  return lost;
}

async function searchAgain(run: TaskRun): Promise<string> {
  const { input } = requireLost(run);
  const { channel } = input.candidate;
  const search = { ...input, version: nextVersion(run) };
  const found = await exclusively(run, () => findUnreportedJob(search));
  switch (found.kind) {
    case 'accepted':
      run.decision = { kind: 'job', job: acceptedJob(found, input.candidate) };
      return `The job ${found.operation.id} was found at ${channel}.`;
    case 'not_accepted':
      run.decision = { kind: 'next' };
      return `${channel} did not accept the submission; the plan continues.`;
    case 'rejected': {
      const ending = afterRejection(found);
      run.decision = { kind: 'end', ending };
      return `${channel} refused the submission; the task ${ending.kind === 'failed' ? 'fails' : 'continues elsewhere'}.`;
    }
    case 'ambiguous':
      throw refused(`${channel} still shows no job of this task (${found.code}). Nothing was changed.`);
    default:
      return found satisfies never;
  }
}

async function adopt({ run, input, dryRun }: Action): Promise<Said> {
  const lost = requireLost(run);
  const { candidate } = lost.input;
  const id = input.upstream_id ?? '';
  const answer = await exclusively(run, async () => {
    const found = await adoptJobOn(candidate.channel).adoptJob({
      ...lost.input,
      version: nextVersion(run),
      adopt: id,
      dryRun,
    });
    if (found.kind === 'refused') throw refused(`${found.message} Nothing was changed.`);
    if (!dryRun) {
      run.isAdopted = true;
      run.decision = {
        kind: 'job',
        job: acceptedJob({ kind: 'accepted', operation: found.operation }, candidate),
      };
    }
    return found;
  });
  return {
    task: `The task is given the job ${id} of ${candidate.channel}, which is ${answer.state} there.`,
    money: `${holdStays(run)} What the job reports decides the charge.`,
  };
}

async function resubmit({ run, input, dryRun }: Action): Promise<Said> {
  const { candidate, task, n } = requireLost(run).input;
  const { channel = candidate.channel } = input;
  const again =
    channel === candidate.channel
      ? candidate
      : run.input.candidates.find((other) => other.channel === channel);
  if (again === undefined) {
    const known = [...new Set(run.input.candidates.map((other) => other.channel))].join(', ');
    throw refused(`The task’s plan has no channel \`${channel}\`; it has ${known}. Nothing was changed.`);
  }
  if (!dryRun) run.decision = { kind: 'again', candidate: again };
  return {
    task: `The task is submitted to ${again.channel} again. If ${candidate.channel} accepted the first submission, cancel its job there (marker ${markerOf({ task, n })}).`,
    money: `${holdStays(run)} It pays for one job: if the first submission was accepted, the upstream bills two.`,
  };
}

async function fail({ run, dryRun }: Action): Promise<Said> {
  const held = money(run, run.input.hold);
  if (!dryRun) {
    run.stop ??= 'operator';
    await condition(() => run.phase === 'ended');
    if (run.ending?.kind === 'succeeded') {
      throw refused('The upstream had already finished: the task succeeded.');
    }
  }
  return {
    task: 'The task fails with internal_error; a job that runs is asked to cancel.',
    money: `The hold of ${held} is released in full; nothing is charged.`,
  };
}

/** The workflow of an attended submission learns only now whether there is a job: what depends on it is checked again. */
async function requireJob(run: TaskRun, name: WorkflowActionName): Promise<void> {
  if (run.attended === undefined) return;
  await learnJob(run);
  const situation = situationOf(run);
  const refusal = refusalOf(name, situation === 'attended' ? 'submitting' : situation);
  if (refusal !== undefined) throw refused(refusal);
}

async function complete({ run, input, dryRun }: Action): Promise<Said> {
  await requireJob(run, 'complete');
  const { job, lost } = run;
  const candidate = job?.candidate ?? lost?.input.candidate;
  if (candidate === undefined) throw refused('The task was never submitted.');
  const facts = factsOf(input);
  const completed = await exclusively(run, async () => {
    const { task, kind, model, hold, basis } = run.input;
    const done = await completeTaskOn(candidate.channel).completeTask({
      task,
      kind,
      model,
      basis,
      facts,
      candidate,
      dryRun,
      held: hold,
      url: input.result_url ?? '',
      ...defined({ abandon: job === undefined ? lost?.input.n : undefined }),
    });
    if (done.kind === 'refused') throw refused(`${done.message} Nothing was changed.`);
    const ending: FinishOutcome = { kind: 'succeeded', candidate, model, facts };
    if (!dryRun) run.decision = { kind: 'end', ending };
    return done;
  });
  return {
    task: 'The task succeeds with the result that was given.',
    money: `${money(run, completed.charge)} is charged; ${money(run, run.input.hold)} is held.`,
  };
}

function factsOf({ duration, resolution, total_tokens: totalTokens, images }: ActionInput) {
  return defined({
    durationSeconds: duration,
    resolution,
    images,
    usage: totalTokens === undefined ? undefined : { completionTokens: totalTokens, totalTokens },
  });
}

async function extend({ run, input, dryRun }: Action): Promise<Said> {
  const deadlineAt = run.deadlineAt + (input.seconds ?? 0) * 1000;
  if (!dryRun) {
    run.deadlineAt = deadlineAt;
    run.restartPoll = run.phase === 'watching';
    await moveDeadline(run, run.input.task, deadlineAt);
  }
  return { task: `The deadline is ${new Date(deadlineAt).toISOString()}.`, money: holdStays(run) };
}

async function acceptCharge({ run, dryRun }: Action): Promise<Said> {
  const charge = money(run, run.review ?? '0');
  if (!dryRun) run.decision = { kind: 'continue' };
  return {
    task: 'The task succeeds.',
    money: `${charge} is charged; ${money(run, run.input.hold)} was held.`,
  };
}

async function undo({ run, dryRun }: Action): Promise<Said> {
  const { job, lost } = run;
  if (!run.isAdopted || job === undefined || lost === undefined) {
    throw refused('The task’s job was not adopted by an operator: there is nothing to undo.');
  }
  const { id } = job.operation;
  await exclusively(run, async () => {
    const { task, n } = lost.input;
    const undone = await undoAdoptionOn(job.candidate.channel).undoAdoption({
      task,
      n,
      dryRun,
      upstreamId: id,
    });
    if (undone.kind === 'refused') throw refused(`${undone.message} Nothing was changed.`);
    if (!dryRun) run.decision = { kind: 'undone' };
  });
  return {
    task: `The task no longer has the job ${id}, and asks for an operator again.`,
    money: holdStays(run),
  };
}
