import { errorOf } from '../shared/api.js';
import { useEffect, useRef, useState } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {{ task: Task, would: import('./types.d.ts').Said | undefined }} Touched `task`: after the act. */
/**
 * @typedef {{
 *   done: readonly Touched[], refused: readonly { id: string, text: string }[], left: readonly Task[],
 * }} Outcome `left`: those that it was stopped before.
 */

const atOnce = 4;

/**
 * The dry run, and then the act. `frozen`: what the dry run found possible, the list that the act will touch, and no
 * other. Nothing more is begun after `stop`, or once the dialog is gone.
 *
 * @param {import('./types.d.ts').Api} api
 */
export function useRuns(api) {
  const [frozen, setFrozen] = useState(/** @type {Outcome | undefined} */ (undefined));
  const [done, setDone] = useState(/** @type {Outcome | undefined} */ (undefined));
  const [progress, setProgress] = useState(/** @type {number | undefined} */ (undefined));
  const isStopped = useRef(false);
  const stop = () => {
    isStopped.current = true;
  };
  useEffect(() => stop, []);

  /**
   * @param {readonly Task[]} tasks
   * @param {object} body
   * @param {boolean} dryRun
   */
  async function run(tasks, body, dryRun) {
    setProgress(0);
    const sent = dryRun ? { ...body, dry_run: true } : body;
    const outcome = await onEach(tasks, {
      onProgress: setProgress,
      isStopped: () => isStopped.current,
      async act({ id }) {
        /** @type {Task & { result: { would?: import('./types.d.ts').Said } }} */
        const task = await api.post(`/admin/v1/tasks/${encodeURIComponent(id)}/actions`, sent);
        return { task, would: task.result.would };
      },
    });
    setProgress(undefined);
    if (dryRun) setFrozen(outcome);
    else setDone(outcome);
  }
  return { frozen, done, progress, run, stop, forget: () => setFrozen(undefined) };
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
