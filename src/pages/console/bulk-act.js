/** The question: what would this act do to these tasks and to the money, and which of them cannot have it? */
import { Dialog } from '../shared/dialog.js';
import { counted, money, shortAmounts, sumMoney } from '../shared/format.js';
import { html, useEffect, useRef, useState } from '../shared/preact.js';
import { ActFields, actBody, actNamed } from './act-fields.js';
import { useRuns } from './bulk-runs.js';
import { Choice } from './filters.js';
import { amountOf } from './task-state.js';
import { named } from './names.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {import('./act-fields.js').ActionName} ActionName */
/** @typedef {import('./bulk-runs.js').Outcome} Outcome */
/** @typedef {{ api: import('./types.d.ts').Api, tasks: readonly Task[], currency: string, onClose: () => void, onDone: () => void }} Props */

/** @param {Props} props */
export function BulkAct(props) {
  const possible = actsOfAny(props.tasks);
  const [first] = possible;
  if (first !== undefined) return html`<${Form} ...${props} possible=${possible} first=${first} />`;
  return html`<${Dialog} title=${`Act on ${counted(props.tasks.length, 'task')}`} onClose=${props.onClose}>
    <p>No act is possible for these tasks together. The page of each says what can be done.</p>
    <div class="row ends"><button autofocus onClick=${props.onClose}>Back</button></div>
  <//>`;
}

/** @param {Props & { possible: readonly ActionName[], first: ActionName }} props */
function Form({ api, tasks, currency, onClose, onDone, possible, first }) {
  const [action, setAction] = useState(first);
  const [written, setWritten] = useState(/** @type {Record<string, string>} */ ({}));
  const { frozen, done, progress, run, stop, forget } = useRuns(api);
  const { title, risk } = actNamed(action);
  const next = useFocus(frozen);
  if (done !== undefined) return html`<${Done} outcome=${done} title=${title} onClose=${onDone} />`;
  const isActing = progress !== undefined && frozen !== undefined;
  const concerned = frozen?.done.map(({ task }) => task) ?? tasks;
  const count = counted(concerned.length, 'task');
  const leave = isActing ? stop : onClose;
  /** @param {() => void} change */
  const anew = (change) => {
    change();
    forget();
  };
  return html`<${Dialog} title=${`Act on ${counted(tasks.length, 'task')}`} onClose=${leave}>
    <form
      onSubmit=${(/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        void run(concerned, actBody(action, written), frozen === undefined);
      }}
    >
      <fieldset disabled=${progress !== undefined}>
        <${Choice}
          label="Act"
          value=${action}
          options=${possible.map((name) => [name, actNamed(name).title])}
          onChange=${(/** @type {ActionName} */ name) => anew(() => setAction(name))}
        />
        <${ActFields}
          action=${action}
          written=${written}
          onChange=${(/** @type {Record<string, string>} */ changed) => anew(() => setWritten(changed))}
        />
      </fieldset>
      ${
        frozen === undefined
          ? html`<${List} label="Selected" rows=${tasks.map(selectedRow)} />`
          : html`<${Preview}
              frozen=${frozen}
              of=${tasks.length}
              moved=${moved(frozen, actBody(action, written))}
              currency=${currency}
            />`
      }
      ${progress !== undefined && html`<p class="soft" role="status">${`${progress} of ${concerned.length}`}</p>`}
      <div class="row ends">
        <button type="button" onClick=${leave}>${isActing ? 'Stop' : 'Back'}</button>
        <button
          ref=${next}
          class=${risk === 'ends' && frozen !== undefined ? 'main destructive' : 'main'}
          disabled=${progress !== undefined || concerned.length === 0}
        >
          ${frozen === undefined ? `Preview for ${tasks.length}` : `${title}: ${count}`}
        </button>
      </div>
    </form>
  <//>`;
}

/** While the dry run ran, the fields had to give the focus away. @param {Outcome | undefined} frozen */
function useFocus(frozen) {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    if (frozen !== undefined) button.current?.focus();
  }, [frozen]);
  return button;
}

/** @param {readonly Task[]} tasks */
function actsOfAny(tasks) {
  const names = new Set(tasks.flatMap(({ situation }) => situation.actions.map(({ name }) => name)));
  return [...names].filter((name) => !actNamed(name).for_one);
}

const kinds = /** @type {const} */ (['charged', 'released', 'refunded']);

/**
 * The money that the act would move in all, by what the gateway states of each task. `amount`: of a refund, where it was
 * written.
 *
 * @param {Outcome} frozen
 * @param {Record<string, string | number>} body
 */
function moved(frozen, { action, amount }) {
  const previews = frozen.done.flatMap(({ task }) =>
    task.situation.actions.filter(({ name }) => name === action),
  );
  return kinds.flatMap((kind) => {
    const written = kind === 'refunded' && typeof amount === 'string' ? amount : undefined;
    const sum = sumMoney(previews.map((preview) => written ?? preview[kind] ?? '0'));
    return /[1-9]/.test(sum) ? [{ kind, sum }] : [];
  });
}

/**
 * @param {{ frozen: Outcome, of: number, moved: ReturnType<typeof moved>, currency: string }} props `of`: how many were
 * selected.
 */
function Preview({ frozen: { done, refused }, of, moved: parts, currency }) {
  const sums = parts.map(({ kind, sum }) => `${money(sum)} ${currency} ${kind}`);
  return html`<div class="notice good" role="status">
      <p>
        ${`Nothing has been done yet. ${counted(done.length, 'task')} of ${of} would be touched: `}
        <strong>${sums.length === 0 ? 'no money is moved' : sums.join(', ')}</strong>.
      </p>
      ${[...new Set(done.map(({ would }) => would?.task ?? ''))].map((words) => html`<p>${shortAmounts(words)}</p>`)}
    </div>
    <${Refused} refused=${refused} />
    <${List} label="Would be touched" rows=${done.map(touchedRow)} />`;
}

/** @param {Task} task */
function selectedRow(task) {
  const { amount, word } = amountOf(task);
  return { id: task.id, text: `${money(amount)} ${word}, ${named(task.needs_attention ?? task.status)}` };
}

/** @param {Outcome['done'][number]} touched */
const touchedRow = ({ task, would }) => ({ id: task.id, text: shortAmounts(would?.money ?? '') });

/** @param {{ label: string, rows: readonly { id: string, text: string }[] }} props */
function List({ label, rows }) {
  return html`<ul class="ids small" tabindex="0" role="region" aria-label=${label}>
    ${rows.map(({ id, text }) => html`<li key=${id}><span class="mono">${id}</span> ${text}</li>`)}
  </ul>`;
}

/** @param {{ outcome: Outcome, title: string, onClose: () => void }} props */
function Done({ outcome: { done, refused, left }, title, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p class="notice good" role="status">Done for ${counted(done.length, 'task')}.</p>
    ${left.length > 0 && html`<p class="notice warn">You stopped it: ${counted(left.length, 'task')} not touched.</p>`}
    <${Refused} refused=${refused} />
    <${List}
      label="Tasks"
      rows=${[
        ...done.map(({ task }) => ({ id: task.id, text: 'done' })),
        ...left.map(({ id }) => ({ id, text: 'not touched' })),
      ]}
    />
    <div class="row ends"><button class="main" autofocus onClick=${onClose}>Back to the list</button></div>
  <//>`;
}

/** @param {{ refused: Outcome['refused'] }} props */
function Refused({ refused }) {
  if (refused.length === 0) return null;
  return html`<div class="notice warn">
    <p>Not possible for ${counted(refused.length, 'task')}:</p>
    <${List} label="Not possible" rows=${refused} />
  </div>`;
}
