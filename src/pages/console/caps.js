import { money } from '../shared/format.js';
import { html, useState } from '../shared/preact.js';
import { Offers } from './offers.js';
import { ReasonDialog } from './reason-dialog.js';

/** @typedef {{ day?: string | undefined, month?: string | undefined, total?: string | undefined }} Windows */
/** @typedef {{ name: string, caps: Windows }} Part */

const windows = /** @type {const} */ ([
  ['day', 'A day'],
  ['month', 'A month'],
  ['total', 'In all'],
]);

/**
 * For example `5.00 a day, 100.00 a month`, or an empty string if there are no caps.
 *
 * @param {Windows | null} caps
 */
export function capsText(caps) {
  return windows
    .flatMap(([name, title]) => {
      const limit = caps?.[name];
      return limit === undefined ? [] : [`${money(limit)} ${title.toLowerCase()}`];
    })
    .join(', ');
}

/**
 * @param {{
 *   title: string,
 *   all: string,
 *   partTitle: string,
 *   partNames?: readonly string[],
 *   caps: Windows,
 *   parts: readonly Part[],
 *   currency: string,
 *   run: (written: { caps: Windows, parts: readonly Part[], reason: string }) => Promise<unknown>,
 *   onSaved: () => Promise<void>,
 *   onClose: () => void,
 * }} props `all`: the label of the first row. `partNames`: suggested names. `onSaved`: see `useSaving`.
 */
export function CapsDialog({ title, all, partTitle, partNames, caps, parts, currency, ...on }) {
  const [rows, setRows] = useState([{ name: '', caps }, ...parts]);
  const change = (/** @type {number} */ at, /** @type {Part} */ row) =>
    setRows(rows.map((before, index) => (index === at ? row : before)));

  const read = () => {
    const [first, ...named] = rows.map((row) => ({ name: row.name.trim(), caps: givenOf(row.caps) }));
    return { caps: first?.caps ?? {}, parts: named };
  };

  return html`<${ReasonDialog} title=${title} button="Set the caps" read=${read} ...${on}>
    <p class="soft small">
      In ${currency}. An empty field means no limit. Existing holds stay, and earlier spending counts.
    </p>
    ${partNames && html`<${Offers} id="parts" offers=${partNames.map((value) => ({ value }))} />`}
    ${rows.map(
      (row, index) =>
        html`<${Row}
          key=${index}
          row=${row}
          label=${index === 0 ? all : undefined}
          partTitle=${partTitle}
          partNames=${partNames}
          onChange=${(/** @type {Part} */ changed) => change(index, changed)}
          onRemove=${() => setRows(rows.filter((_, at) => at !== index))}
        />`,
    )}
    <p>
      <button type="button" class="plain" onClick=${() => setRows([...rows, { name: '', caps: {} }])}>
        Add caps for one ${partTitle.toLowerCase()}
      </button>
    </p>
  <//>`;
}

/**
 * @param {{
 *   row: Part, label: string | undefined, partTitle: string, partNames: readonly string[] | undefined,
 *   onChange: (row: Part) => void, onRemove: () => void,
 * }} props `label` is undefined for a part, which shows its name instead.
 */
function Row({ row, label, partTitle, partNames, onChange, onRemove }) {
  const name = html`<input
    aria-label=${partTitle}
    placeholder=${partTitle}
    required
    list=${partNames === undefined ? undefined : 'parts'}
    autocomplete="off"
    value=${row.name}
    onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => onChange({ ...row, name: event.currentTarget.value })}
  />`;
  return html`<fieldset class="caps">
    <div class="row apart">
      ${label === undefined ? name : html`<strong>${label}</strong>`}
      ${label === undefined && html`<button type="button" class="plain" onClick=${onRemove}>Remove</button>`}
    </div>
    <div class="row windows">
      ${windows.map(
        ([window, title]) =>
          html`<label class="small">
            ${title}
            <input
              class="number"
              inputmode="decimal"
              autocomplete="off"
              placeholder="no cap"
              aria-label=${`${label ?? (row.name || partTitle)}, ${title.toLowerCase()}`}
              value=${row.caps[window] ?? ''}
              onInput=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) =>
                onChange({ ...row, caps: { ...row.caps, [window]: event.currentTarget.value } })}
            />
          </label>`,
      )}
    </div>
  </fieldset>`;
}

/**
 * @param {Windows} caps
 * @returns {Windows}
 */
function givenOf(caps) {
  const given = windows.flatMap(([name]) => {
    const limit = caps[name]?.trim() ?? '';
    return limit === '' ? [] : [[name, limit]];
  });
  return Object.fromEntries(given);
}
