import { keep, readKept } from '../shared/kept.js';
import { html, useState } from '../shared/preact.js';

const place = 'mediary.columns';

/**
 * The choice is stored in this browser.
 *
 * @template Row
 * @param {readonly import('../shared/table.js').Column<Row>[]} columns
 * @param {readonly string[]} more titles of the columns that are hidden by default
 */
export function useColumns(columns, more) {
  const [chosen, setChosen] = useState(/** @returns {Record<string, boolean>} */ () => readKept(place, {}));
  const isShown = (/** @type {string} */ title) => chosen[title] ?? !more.includes(title);
  const [isOpen, setOpen] = useState(false);
  const choice = html`<details
    class="choice"
    onToggle=${(/** @type {Event & { currentTarget: HTMLDetailsElement }} */ event) => setOpen(event.currentTarget.open)}
  >
    <summary>Columns</summary>
    <fieldset hidden=${!isOpen}>
      ${(isOpen ? columns : []).map(
        ({ title }) =>
          html`<label key=${title}>
            <input
              type="checkbox"
              aria-label=${`Show ${title}`}
              checked=${isShown(title)}
              onChange=${() => {
                const changed = { ...chosen, [title]: !isShown(title) };
                keep(place, changed);
                setChosen(changed);
              }}
            />
            ${title}
          </label>`,
      )}
    </fieldset>
  </details>`;
  return { shown: columns.filter(({ title }) => isShown(title)), choice };
}
