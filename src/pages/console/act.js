/** The question: what would this act do to these tasks, to the money and at the upstream, and where can it not? */
import { Dialog } from '../shared/dialog.js';
import { counted, money } from '../shared/format.js';
import { html, useState } from '../shared/preact.js';
import { ActFields, actBody, actNamed } from './act-fields.js';
import { IdList, Preview, Refused } from './act-preview.js';
import { useRuns } from './act-runs.js';
import { Choice } from './filters.js';
import { amountOf } from './task-state.js';
import { named } from './names.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {import('./act-fields.js').ActionName} ActionName */
/** @typedef {import('./act-runs.js').Outcome} Outcome */
/**
 * @typedef {{
 *   api: import('./types.d.ts').Api, tasks: readonly Task[], action?: ActionName, currency: string,
 *   onClose: () => void, onDone: () => void,
 * }} Props `action` is set if it was chosen before. `onDone` is called after the act, or when its outcome is closed.
 */

/** @param {Props} props */
export function Act(props) {
  const { tasks, action, onClose } = props;
  const possible = action === undefined ? actsOfAny(tasks) : [action];
  if (possible.length > 0) return html`<${Form} ...${props} possible=${possible} />`;
  return html`<${Dialog} title=${`Act on ${counted(tasks.length, 'task')}`} onClose=${onClose}>
    <p>No act is possible for these tasks together. Open a task to see what is possible for it.</p>
    <div class="row ends"><button autofocus onClick=${onClose}>Back</button></div>
  <//>`;
}

/**
 * An act is filled in, previewed, and then done with a separate button. A change after the preview requires a new one.
 * Enter in a field only previews.
 *
 * @param {Props & { possible: readonly ActionName[] }} props
 */
function Form({ api, tasks, action: given, currency, onClose, onDone, possible }) {
  const [chosen, setChosen] = useState(given);
  const [written, setWritten] = useState(/** @type {Record<string, string>} */ ({}));
  const [done, setDone] = useState(/** @type {Outcome | undefined} */ (undefined));
  const { frozen, progress, preview, act, stop, forget } = useRuns(api);
  const title = chosen === undefined ? '' : actNamed(chosen).title;
  if (done !== undefined) return html`<${Done} outcome=${done} title=${title} onClose=${onDone} />`;
  const isBusy = progress !== undefined;
  const isActing = isBusy && frozen !== undefined;
  const leave = isActing ? stop : onClose;
  const body = chosen === undefined ? undefined : actBody(chosen, written);
  const head = given === undefined ? `Act on ${counted(tasks.length, 'task')}` : title;
  return html`<${Dialog} title=${head} onClose=${leave}>
    <form
      onSubmit=${(/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        if (body !== undefined) void preview(tasks, body);
      }}
    >
      <${Entries}
        isFixed=${given !== undefined}
        isBusy=${isBusy}
        possible=${possible}
        chosen=${chosen}
        written=${written}
        onChoose=${setChosen}
        onWrite=${setWritten}
        onChange=${forget}
      />
      ${frozen === undefined && given === undefined && html`<${IdList} label="Selected" rows=${tasks.map(selectedRow)} />`}
      <div class="row ends">
        <button type="button" onClick=${leave}>${isActing ? 'Stop' : 'Back'}</button>
        <button disabled=${isBusy || chosen === undefined} class=${frozen === undefined ? 'main' : ''}>
          ${given === undefined ? `Preview for ${tasks.length}` : 'Preview'}
        </button>
      </div>
    </form>
    ${
      frozen !== undefined &&
      body !== undefined &&
      html`<${Preview}
        frozen=${frozen}
        of=${tasks.length}
        body=${body}
        currency=${currency}
        button=${given === undefined ? `${title}: ${counted(frozen.done.length, 'task')}` : `${title} now`}
        isBusy=${isBusy}
        onAct=${async () => {
          const outcome = await act(frozen, body);
          if (given !== undefined && outcome.done.length > 0) onDone();
          else setDone(outcome);
        }}
      />`
    }
    ${progress !== undefined && html`<p class="soft" role="status">${`${progress} of ${frozen?.done.length ?? tasks.length}`}</p>`}
  <//>`;
}

/**
 * Chooses the act, unless it was chosen before, and fills in its fields. No act is chosen at first.
 *
 * @param {{
 *   isFixed: boolean, isBusy: boolean, possible: readonly ActionName[], chosen: ActionName | undefined,
 *   written: Record<string, string>, onChoose: (name: ActionName | undefined) => void,
 *   onWrite: (written: Record<string, string>) => void, onChange: () => void,
 * }} props `onChange` is called after both: the preview no longer applies.
 */
function Entries({ isFixed, isBusy, possible, chosen, written, onChoose, onWrite, onChange }) {
  return html`<fieldset disabled=${isBusy}>
    ${
      !isFixed &&
      html`<${Choice}
        label="Act"
        isFirst
        value=${chosen ?? ''}
        options=${[['', 'Choose an act'], ...possible.map((name) => [name, actNamed(name).title])]}
        onChange=${(/** @type {string} */ name) => {
          onChoose(possible.find((one) => one === name));
          onChange();
        }}
      />`
    }
    ${
      chosen !== undefined &&
      html`<${ActFields}
        action=${chosen}
        written=${written}
        onChange=${(/** @type {Record<string, string>} */ changed) => {
          onWrite(changed);
          onChange();
        }}
      />`
    }
  </fieldset>`;
}

/** @param {readonly Task[]} tasks */
function actsOfAny(tasks) {
  const names = new Set(tasks.flatMap(({ situation }) => situation.actions.map(({ name }) => name)));
  return [...names].filter((name) => !actNamed(name).for_one);
}

/** @param {Task} task */
function selectedRow(task) {
  const { amount, word } = amountOf(task);
  return { id: task.id, text: `${money(amount)} ${word}, ${named(task.needs_attention ?? task.status)}` };
}

/** @param {{ outcome: Outcome, title: string, onClose: () => void }} props */
function Done({ outcome: { done, refused, left }, title, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    ${done.length > 0 && html`<p class="notice good" role="status">Done for ${counted(done.length, 'task')}.</p>`}
    ${left.length > 0 && html`<p class="notice warn">You stopped it: ${counted(left.length, 'task')} not touched.</p>`}
    <${Refused} refused=${refused} />
    <${IdList}
      label="Tasks"
      rows=${[
        ...done.map(({ task }) => ({ id: task.id, text: 'done' })),
        ...left.map(({ id }) => ({ id, text: 'not touched' })),
      ]}
    />
    <div class="row ends"><button class="main" autofocus onClick=${onClose}>Back</button></div>
  <//>`;
}
