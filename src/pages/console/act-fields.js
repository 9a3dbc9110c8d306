import { Label } from '../shared/parts.js';
import { html } from '../shared/preact.js';

/** @typedef {import('./types.d.ts').Act} Act */
/** @typedef {Act['name']} ActionName */

/** Loaded before any page is shown. @type {Map<string, Act>} */
const known = new Map();

/** @param {readonly Act[]} acts */
export function learnActs(acts) {
  for (const act of acts) known.set(act.name, act);
}

/** @param {string} name */
export function findAct(name) {
  return known.get(name);
}

/** @param {ActionName} name @returns {Act} */
export function actNamed(name) {
  const act = known.get(name);
  if (act === undefined) throw new TypeError(`the gateway has no act ${name}`);
  return act;
}

/**
 * @param {ActionName} action
 * @param {Record<string, string>} written
 * @returns {{ action: ActionName, amount?: string | number } & Record<string, string | number>}
 */
export function actBody(action, written) {
  const given = actNamed(action).fields.flatMap(({ name, type }) => {
    const value = written[name]?.trim() ?? '';
    if (value === '') return [];
    return [[name, type === 'text' ? value : Number(value)]];
  });
  return { action, reason: written['reason']?.trim() ?? '', ...Object.fromEntries(given) };
}

/**
 * @param {{
 *   action: ActionName, isReasonOnly: boolean, written: Record<string, string>,
 *   onChange: (written: Record<string, string>) => void,
 * }} props
 */
export function ActFields({ action, isReasonOnly, written, onChange }) {
  const { fields } = actNamed(action);
  const all = [
    ...(isReasonOnly ? [] : fields),
    { name: 'reason', label: 'Reason (kept with your name)', type: 'text', required: true },
  ];
  return all.map(
    ({ name, label, type, required }, index) =>
      html`<label key=${name} class="stacked">
        <${Label} text=${label} />
        <input
          name=${name}
          required=${required}
          autofocus=${index === 0}
          autocomplete="off"
          inputmode=${type === 'text' ? undefined : 'decimal'}
          value=${written[name] ?? ''}
          onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) =>
            onChange({ ...written, [name]: event.currentTarget.value })}
        />
      </label>`,
  );
}
