import { useMemo, useState } from './preact.js';

/**
 * A row that disappears from the list is deselected, unless the tasks were selected with `takeAll`. Switching to
 * another list clears the selection.
 *
 * @template {{ readonly id: string }} Task
 * @param {string} list
 * @param {readonly Task[]} rows
 */
export function useSelection(list, rows) {
  const none = { list, tasks: /** @type {readonly Task[]} */ ([]), isAll: false };
  const [kept, setKept] = useState(none);
  const current = kept.list === list ? kept : none;
  const chosen = useMemo(() => {
    const ids = new Set(current.tasks.map(({ id }) => id));
    return current.isAll ? current.tasks : rows.filter(({ id }) => ids.has(id));
  }, [current, rows]);
  const ids = useMemo(() => new Set(chosen.map(({ id }) => id)), [chosen]);
  return {
    chosen,
    has: (/** @type {string} */ id) => ids.has(id),
    /** @param {readonly string[]} keys @param {boolean} isOn */
    toggle(keys, isOn) {
      const others = chosen.filter(({ id }) => !keys.includes(id));
      const added = isOn ? rows.filter(({ id }) => keys.includes(id)) : [];
      setKept({ ...current, tasks: [...others, ...added] });
    },
    /** @param {readonly Task[]} tasks */
    takeAll: (tasks) => setKept({ list, tasks, isAll: true }),
    clear: () => setKept(none),
  };
}
