import { ApiError, errorOf } from '../shared/api.js';
import { useEffect, useRef, useState } from '../shared/preact.js';
import { randomId } from '../shared/random-id.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {import('./types.d.ts').ActResult} ActResult */
/** @typedef {{ readonly id: string }} Named */
/** @typedef {(id: string) => object} BodyFor */
/**
 * @typedef {{ task: Task, would: import('./types.d.ts').Said | undefined, plan: string | undefined }} Touched `task` is
 * its state after the action.
 */
/** @typedef {{ id: string, text: string }} Failed */
/**
 * @typedef {{
 *   done: readonly Touched[], refused: readonly Failed[], unconfirmed: readonly Failed[], left: readonly Named[],
 * }} Outcome `unconfirmed`: tasks whose response was lost, so the action may have succeeded. `left`: tasks that were
 * not reached before the run was stopped.
 */

const atOnce = 4;

/**
 * `frozen` contains the tasks for which the dry run succeeded. The action applies to exactly these tasks, with the
 * plans from the dry run. After `stop`, or once the dialog is closed, no further task is started.
 *
 * @param {import('./types.d.ts').Api} api
 */
export function useRuns(api) {
  const [frozen, setFrozen] = useState(/** @type {Outcome | undefined} */ (undefined));
  const [progress, setProgress] = useState(/** @type {number | undefined} */ (undefined));
  const isStopped = useRef(false);
  const stop = () => {
    isStopped.current = true;
  };
  useEffect(() => stop, []);

  /**
   * @param {readonly Named[]} tasks
   * @param {BodyFor} bodyFor
   */
  async function each(tasks, bodyFor) {
    setProgress(0);
    const outcome = await onEach(tasks, {
      onProgress: setProgress,
      isStopped: () => isStopped.current,
      async act({ id }) {
        /** @type {Task & { result: ActResult }} */
        const task = await api.post(`/admin/v1/tasks/${encodeURIComponent(id)}/actions`, bodyFor(id));
        const { result } = task;
        return 'would' in result ? { task, ...result } : { task, would: undefined, plan: undefined };
      },
    });
    setProgress(undefined);
    return outcome;
  }

  return {
    frozen,
    progress,
    stop,
    forget: () => setFrozen(undefined),
    preview: async (/** @type {readonly Named[]} */ tasks, /** @type {BodyFor} */ bodyFor) => {
      setFrozen(undefined);
      setFrozen(await each(tasks, (id) => ({ ...bodyFor(id), dry_run: true })));
    },
    act: (/** @type {Outcome} */ { done: touched }, /** @type {BodyFor} */ bodyFor) => {
      const plans = new Map(touched.map(({ task, plan }) => [task.id, plan]));
      const bulk = touched.length > 1 ? { bulk: randomId(12) } : {};
      const tasks = touched.map(({ task }) => task);
      return each(tasks, (id) => ({ ...bodyFor(id), ...bulk, plan: plans.get(id) }));
    },
  };
}

/**
 * @param {readonly Named[]} tasks
 * @param {{ onProgress: (count: number) => void, isStopped: () => boolean, act: (task: Named) => Promise<Touched> }} how
 * @returns {Promise<Outcome>}
 */
async function onEach(tasks, { onProgress, isStopped, act }) {
  /** @type {Touched[]} */
  const done = [];
  /** @type {Failed[]} */
  const refused = [];
  /** @type {Failed[]} */
  const unconfirmed = [];
  let begun = 0;
  const workOff = async () => {
    for (;;) {
      const task = tasks[begun];
      if (task === undefined || isStopped()) return;
      begun += 1;
      try {
        done.push(await act(task));
      } catch (error) {
        const isRefusal = error instanceof ApiError && error.status < 500;
        (isRefusal ? refused : unconfirmed).push({ id: task.id, text: errorOf(error).message });
      }
      onProgress(done.length + refused.length + unconfirmed.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOff));
  return { done, refused, unconfirmed, left: tasks.slice(begun) };
}
