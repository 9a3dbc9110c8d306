import { GatewayError } from '../../src/domain/errors.ts';
import { refusalOf } from '../../src/domain/operator-actions.ts';
import type { ActionInput, TaskSituation } from '../../src/domain/operator-actions.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { TaskStore } from '../../src/store/tasks.ts';
import type { RunningAction, TaskPort } from '../../src/tasks/task-port.ts';

/** What the workflow does as far as callers can see it, done at once: it claims the task, and cancels it. */
export interface TestPort extends TaskPort {
  readonly started: TaskInput[];
  readonly woken: string[];
  readonly acts: { readonly task: string; readonly action: RunningAction; readonly input: ActionInput }[];
  readonly redelivered: string[];
  /** Ids of the tasks that a query finds. */
  readonly found: Map<string, readonly string[]>;
  /** What the tasks are doing, as far as it decides which actions are possible. */
  situation: TaskSituation;
  /** The same for single tasks, where one differs from the others. */
  readonly situations: Map<string, TaskSituation>;
  /** Thrown by the next `start`. */
  failStart: Error | undefined;
  /** Thrown by `checkReady` while set. */
  notReady: Error | undefined;
  /** The upstream refuses to cancel. */
  refuseCancel: boolean;
}

export interface TestPortDeps {
  readonly tasks: TaskStore;
  readonly ledger: Ledger;
  readonly now: () => number;
}

export function createTestPort({ tasks, ledger, now }: TestPortDeps): TestPort {
  const version = () => BigInt(now()) * 1000n + 999n;
  const port: TestPort = {
    started: [],
    woken: [],
    acts: [],
    redelivered: [],
    found: new Map(),
    situation: 'lost',
    situations: new Map(),
    failStart: undefined,
    notReady: undefined,
    refuseCancel: false,

    async start(input) {
      const failure = port.failStart;
      port.failStart = undefined;
      if (failure !== undefined) throw failure;
      if (port.started.some(({ task }) => task === input.task)) return;
      port.started.push(input);
      await tasks.claim(input.task, BigInt(input.hold));
    },

    async cancel(id) {
      if (port.refuseCancel) throw new GatewayError('task_not_cancellable', 'The upstream refuses.');
      const task = await tasks.find(id);
      if (task === undefined) throw new GatewayError('task_not_found', 'There is no such task.');
      await ledger.release({ account: task.account, task: id, held: task.hold });
      await tasks.finish(id, {
        status: 'failed',
        version: version(),
        charge: 0n,
        chargeEstimated: false,
        error: { code: 'task_cancelled', message: 'The task was cancelled.' },
      });
    },

    wake(task) {
      port.woken.push(task);
      return Promise.resolve();
    },

    async act(task, action, input) {
      const refusal = refusalOf(action, port.situations.get(task) ?? port.situation);
      if (refusal !== undefined) throw new GatewayError('action_not_possible', refusal);
      port.acts.push({ task, action, input });
      const { by = '', reason, dry_run: dryRun = false } = input;
      if (!dryRun) await tasks.recordAction(task, { at: now(), by, action, reason, detail: 'Done.' });
      return { dry_run: dryRun, task: 'Done.', money: 'Nothing.' };
    },

    waiting: () => Promise.resolve(undefined),

    search({ query, limit, page = '0' }) {
      const from = Number(page);
      const all = port.found.get(query) ?? [];
      const next = from + limit < all.length ? { next: String(from + limit) } : {};
      return Promise.resolve({ ids: all.slice(from, from + limit), ...next });
    },

    redeliver(task) {
      port.redelivered.push(task);
      return Promise.resolve();
    },

    checkReady() {
      return port.notReady === undefined ? Promise.resolve() : Promise.reject(port.notReady);
    },
  };
  return port;
}
