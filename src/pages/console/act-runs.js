import { errorOf } from '../shared/api.js';
import { useEffect, useRef, useState } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {import('./types.d.ts').ActResult} ActResult */
/** @typedef {{ task: Task, would: import('./types.d.ts').Said | undefined, plan: string | undefined }} Touched `task` is its state after the act. */
/**
 * @typedef {{
 *   done: readonly Touched[], refused: readonly { id: string, text: string }[], left: readonly Task[],
 * }} Outcome `left`: those that it was stopped before.
 */

const atOnce = 4;

/**
 * Runs the dry run, and then the act. `frozen` holds the tasks for which the dry run found the act possible. The act
 * touches exactly these, by their plans. No further task is begun after `stop`, or once the dialog is closed.
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
   * @param {readonly Task[]} tasks
   * @param {(id: string) => object} bodyFor
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
    preview: async (/** @type {readonly Task[]} */ tasks, /** @type {object} */ body) => {
      setFrozen(undefined);
      setFrozen(await each(tasks, () => ({ ...body, dry_run: true })));
    },
    act: (/** @type {Outcome} */ { done: touched }, /** @type {object} */ body) => {
      const plans = new Map(touched.map(({ task, plan }) => [task.id, plan]));
      const bulk = touched.length > 1 ? { bulk: newId() } : {};
      const tasks = touched.map(({ task }) => task);
      return each(tasks, (id) => ({ ...body, ...bulk, plan: plans.get(id) }));
    },
  };
}

/** `crypto.randomUUID` is missing on pages that were loaded without TLS. */
function newId() {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

/**
 * A few at a time; each refusal is kept with its task.
 *
 * @param {readonly Task[]} tasks
 * @param {{ onProgress: (count: number) => void, isStopped: () => boolean, act: (task: Task) => Promise<Touched> }} how
 * @returns {Promise<Outcome>}
 */
async function onEach(tasks, { onProgress, isStopped, act }) {
  /** @type {Touched[]} */
  const done = [];
  /** @type {{ id: string, text: string }[]} */
  const refused = [];
  let begun = 0;
  const workOff = async () => {
    for (;;) {
      const task = tasks[begun];
      if (task === undefined || isStopped()) return;
      begun += 1;
      try {
        done.push(await act(task));
      } catch (error) {
        refused.push({ id: task.id, text: errorOf(error).message });
      }
      onProgress(done.length + refused.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOff));
  return { done, refused, left: tasks.slice(begun) };
}
