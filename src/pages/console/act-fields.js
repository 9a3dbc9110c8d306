import { html } from '../shared/preact.js';

/**
 * @typedef {import('./types.d.ts').TaskAction['name']} ActionName
 * @typedef {{ name: string, label: string, isRequired?: boolean, isNumber?: boolean }} Field
 */

/** @type {Record<ActionName, { title: string, fields: readonly Field[], isForOne?: boolean, isDestructive?: boolean }>} */
export const acts = {
  retry_now: { title: 'Try now', fields: [] },
  adopt: {
    title: 'Adopt a job',
    fields: [{ name: 'upstream_id', label: 'Id of the upstream’s job', isRequired: true }],
    isForOne: true,
  },
  resubmit: { title: 'Resubmit', fields: [{ name: 'channel', label: 'Channel (empty: the same)' }] },
  fail: { title: 'Fail', fields: [], isDestructive: true },
  cancel: { title: 'Cancel', fields: [], isDestructive: true },
  complete: {
    title: 'Complete',
    fields: [
      { name: 'result_url', label: 'Address of the result', isRequired: true },
      { name: 'duration', label: 'Duration in seconds', isNumber: true },
      { name: 'resolution', label: 'Resolution' },
      { name: 'total_tokens', label: 'Tokens that the upstream bills', isNumber: true },
      { name: 'images', label: 'Number of images', isNumber: true },
    ],
    isForOne: true,
  },
  extend: {
    title: 'Extend the deadline',
    fields: [
      { name: 'seconds', label: 'By how many seconds (60 to 604800)', isRequired: true, isNumber: true },
    ],
  },
  accept_charge: { title: 'Accept the charge', fields: [] },
  undo: { title: 'Undo the adoption', fields: [] },
  redeliver: { title: 'Send the callback again', fields: [] },
  refund: { title: 'Refund', fields: [{ name: 'amount', label: 'Amount (empty: all that was charged)' }] },
};

/**
 * What the API is sent for an act.
 *
 * @param {ActionName} action
 * @param {Record<string, string>} written
 * @returns {Record<string, string | number>}
 */
export function actBody(action, written) {
  const given = acts[action].fields.flatMap(({ name, isNumber }) => {
    const value = written[name]?.trim() ?? '';
    if (value === '') return [];
    return [[name, isNumber === true ? Number(value) : value]];
  });
  return { action, reason: written['reason']?.trim() ?? '', ...Object.fromEntries(given) };
}

/**
 * @param {{ action: ActionName, written: Record<string, string>, onChange: (written: Record<string, string>) => void }} props
 */
export function ActFields({ action, written, onChange }) {
  const { fields } = acts[action];
  const all = [...fields, { name: 'reason', label: 'Reason (kept with your name)', isRequired: true }];
  return all.map(
    ({ name, label, isRequired = false, isNumber = false }, index) =>
      html`<label key=${name} class="stacked">
        ${label}
        <input
          name=${name}
          required=${isRequired}
          autofocus=${index === 0}
          autocomplete="off"
          inputmode=${isNumber ? 'decimal' : undefined}
          value=${written[name] ?? ''}
          onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) =>
            onChange({ ...written, [name]: event.currentTarget.value })}
        />
      </label>`,
  );
}
