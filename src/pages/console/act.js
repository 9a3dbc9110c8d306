import { Choice } from '../shared/choice.js';
import { Dialog } from '../shared/dialog.js';
import { counted, money } from '../shared/format.js';
import { html, useState } from '../shared/preact.js';
import { ActFields, actBody, actNamed } from './act-fields.js';
import { Failures, IdList, Preview } from './act-preview.js';
import { useRuns } from './act-runs.js';
import { amountOf } from './task-state.js';
import { named } from './names.js';

/** @typedef {import('./types.d.ts').Task} Task */
/** @typedef {import('./act-fields.js').ActionName} ActionName */
/** @typedef {import('./act-runs.js').Outcome} Outcome */
/**
 * @typedef {{
 *   api: import('./types.d.ts').Api, action?: ActionName, currency: string,
 *   onClose: () => void, onDone: () => void,
 * }} Props `action` is set if it was chosen in advance. `onDone` is called after the action, or when the operator
 * closes its outcome.
 */

/** @param {Props & { tasks: readonly Task[] }} props */
export function Act(props) {
  const { tasks, action, onClose } = props;
  const possible = action === undefined ? actsOfAny(tasks) : [action];
  const listed = action === undefined ? tasks.map(selectedRow) : [];
  if (possible.length > 0) return html`<${Form} ...${props} possible=${possible} listed=${listed} />`;
  return html`<${Dialog} title=${`Act on ${counted(tasks.length, 'task')}`} onClose=${onClose}>
    <p>No action is possible for all of these tasks. Open a task to see its possible actions.</p>
  <//>`;
}

/** @param {Props & { jobs: ReadonlyMap<string, string> }} props `jobs`: the upstream's job for each task's id. */
export function Adopt({ jobs, ...props }) {
  const pairs = [...jobs];
  return html`<${Form}
    ...${props}
    tasks=${pairs.map(([id]) => ({ id }))}
    action="adopt"
    possible=${['adopt']}
    listed=${pairs.map(([id, job]) => ({ id, text: `gets the job ${job}` }))}
    fieldsOf=${(/** @type {string} */ id) => ({ upstream_id: jobs.get(id) })}
  />`;
}

/**
 * The operator fills in the action, previews it, and performs it with a separate button. Any change discards the
 * preview. Pressing Enter in a field only previews.
 *
 * @param {Props & {
 *   tasks: readonly import('./act-runs.js').Named[], possible: readonly ActionName[],
 *   listed: readonly { id: string, text: string }[], fieldsOf?: import('./act-runs.js').BodyFor,
 * }} props `fieldsOf` returns the action's fields for each task, if the operator does not enter them.
 */
function Form({ api, tasks, action: given, currency, onClose, onDone, possible, listed, fieldsOf }) {
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
  const bodyFor = (/** @type {string} */ id) => ({ ...body, ...fieldsOf?.(id) });
  const isOne = given !== undefined && tasks.length === 1;
  const head = given === undefined ? `Act on ${counted(tasks.length, 'task')}` : title;
  return html`<${Dialog} title=${head} onClose=${leave} closeWord=${isActing ? 'Stop' : 'Close'}>
    <form
      onSubmit=${(/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        if (body !== undefined) void preview(tasks, bodyFor);
      }}
    >
      <${Entries}
        isFixed=${given !== undefined}
        isReasonOnly=${fieldsOf !== undefined}
        isBusy=${isBusy}
        possible=${possible}
        chosen=${chosen}
        written=${written}
        onChoose=${setChosen}
        onWrite=${setWritten}
        onChange=${forget}
      />
      ${frozen === undefined && html`<${IdList} label="Selected" rows=${listed} />`}
      <div class="row ends">
        <button disabled=${isBusy || chosen === undefined} class=${frozen === undefined ? 'main' : ''}>
          ${isOne ? 'Preview' : `Preview for ${tasks.length}`}
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
        button=${isOne ? `${title} now` : `${title}: ${counted(frozen.done.length, 'task')}`}
        isBusy=${isBusy}
        onAct=${async () => {
          const outcome = await act(frozen, bodyFor);
          if (isOne && outcome.done.length > 0) onDone();
          else setDone(outcome);
        }}
      />`
    }
    ${progress !== undefined && html`<p class="soft" role="status">${`${progress} of ${frozen?.done.length ?? tasks.length}`}</p>`}
  <//>`;
}

/**
 * @param {{
 *   isFixed: boolean, isReasonOnly: boolean, isBusy: boolean, possible: readonly ActionName[], chosen: ActionName | undefined,
 *   written: Record<string, string>, onChoose: (name: ActionName | undefined) => void,
 *   onWrite: (written: Record<string, string>) => void, onChange: () => void,
 * }} props `onChange` is called when the choice or a field changes, because the preview no longer applies.
 */
function Entries({ isFixed, isReasonOnly, isBusy, possible, chosen, written, onChoose, onWrite, onChange }) {
  return html`<fieldset disabled=${isBusy}>
    ${
      !isFixed &&
      html`<${Choice}
        label="Act"
        isFirst
        value=${chosen ?? ''}
        options=${[['', 'Choose an action'], ...possible.map((name) => [name, actNamed(name).title])]}
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
        isReasonOnly=${isReasonOnly}
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
function Done({ outcome: { done, refused, unconfirmed, left }, title, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    ${done.length > 0 && html`<p class="notice good" role="status">Done for ${counted(done.length, 'task')}.</p>`}
    ${left.length > 0 && html`<p class="notice warn">You stopped the action before it reached ${counted(left.length, 'task')}.</p>`}
    <${Failures} title="Not possible" rows=${refused} />
    <${Failures}
      title="Not confirmed"
      advice=". Each action may have been performed, so check the task before you repeat it"
      rows=${unconfirmed}
    />
    <${IdList}
      label="Tasks"
      rows=${[
        ...done.map(({ task }) => ({ id: task.id, text: 'done' })),
        ...left.map(({ id }) => ({ id, text: 'not touched' })),
      ]}
    />
  <//>`;
}
