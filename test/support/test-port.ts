import { GatewayError } from '../../src/errors/errors.ts';
import { planRefusal, resultOf } from '../../src/commands/act-plan.ts';
import {
  isPossibleIn,
  operatorActions,
  refusalWords,
  type RunningActionName,
} from '../../src/operating/acts.ts';
import type { ActionInput } from '../../src/operating/act-fields.ts';
import { taskFailures } from '../../src/task/failures.ts';
import type { TaskInput } from '../../src/task/input.ts';
import type { StateName } from '../../src/task/state.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { TaskStore } from '../../src/store/tasks.ts';
import type { TaskPort } from '../../src/commands/task-port.ts';
import { taskDriver } from './task-records.ts';

export interface TestPort extends TaskPort {
  readonly started: TaskInput[];
  readonly woken: string[];
  readonly acts: { readonly task: string; readonly action: RunningActionName; readonly input: ActionInput }[];
  readonly redelivered: string[];
  readonly found: Map<string, readonly string[]>;
  pageMax: number;
  situation: StateName;
  readonly situations: Map<string, StateName>;
  failStart: Error | undefined;
  notReady: Error | undefined;
  unpolled: readonly string[];
  refuseCancel: boolean;
  loseCancelAnswer: Error | undefined;
}

export interface TestPortDeps {
  readonly tasks: TaskStore;
  readonly ledger: Ledger;
  readonly now: () => number;
}

export function createTestPort({ tasks, ledger, now }: TestPortDeps): TestPort {
  const drive = taskDriver(tasks);
  let acts = 0;
  const port: TestPort = {
    started: [],
    woken: [],
    acts: [],
    redelivered: [],
    found: new Map(),
    pageMax: Infinity,
    situation: 'asking',
    situations: new Map(),
    failStart: undefined,
    notReady: undefined,
    unpolled: [],
    refuseCancel: false,
    loseCancelAnswer: undefined,

    async start(input) {
      const failure = port.failStart;
      port.failStart = undefined;
      if (failure !== undefined) throw failure;
      if (port.started.some(({ task }) => task === input.task)) return;
      port.started.push(input);
      await tasks.step(input.task, { kind: 'acted' });
    },

    async cancel(id) {
      if (port.refuseCancel) throw new GatewayError('task_not_cancellable', 'The upstream refuses.');
      const task = await tasks.find(id);
      if (task === undefined) throw new GatewayError('task_not_found', 'There is no such task.');
      await ledger.release({ account: task.account, task: id, held: task.hold });
      const { state } = await drive.step(id, { kind: 'wanted', stop: 'cancel' });
      if (state.at !== 'ending') await drive.step(id, { kind: 'stopped' });
      const error = taskFailures.cancelled;
      await drive.step(id, { kind: 'ended', status: 'failed', charge: 0n, chargeEstimated: false, error });
      if (port.loseCancelAnswer !== undefined) throw port.loseCancelAnswer;
    },

    wake(task) {
      port.woken.push(task);
      return Promise.resolve();
    },

    async act(task, action, input) {
      const at = port.situations.get(task) ?? port.situation;
      const possible = operatorActions.filter((name) => isPossibleIn(name, at));
      if (!isPossibleIn(action, at))
        throw new GatewayError('action_not_possible', refusalWords(action, { at, possible }));
      const planned = { id: task, rev: (await tasks.find(task))?.rev ?? 0, action, input };
      const outdated = planRefusal(planned);
      if (outdated !== undefined) throw new GatewayError('action_not_possible', outdated);
      port.acts.push({ task, action, input });
      const { by, reason, dry_run: dryRun = false } = input;
      acts += 1;
      const record = { id: `act-${acts}`, at: now(), by, action, reason, detail: 'Done.' };
      if (!dryRun) await tasks.step(task, { kind: 'acted' }, record);
      return resultOf({ task: 'Done.', money: 'Nothing.' }, planned);
    },

    waiting: () => Promise.resolve(undefined),

    search({ query, limit, page = '0' }) {
      const from = Number(page);
      const until = from + Math.min(limit, port.pageMax);
      const all = port.found.get(query) ?? [];
      const next = until < all.length ? { next: String(until) } : {};
      return Promise.resolve({ ids: all.slice(from, until), ...next });
    },

    redeliver(task) {
      port.redelivered.push(task);
      return Promise.resolve();
    },

    unpolledQueues() {
      return port.notReady === undefined ? Promise.resolve(port.unpolled) : Promise.reject(port.notReady);
    },
  };
  return port;
}
