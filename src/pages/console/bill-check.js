import { Choice } from '../shared/choice.js';
import { errorOf } from '../shared/api.js';
import { useLive } from '../shared/live.js';
import { LiveState, Refusal } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { Settling } from './bill-report.js';
import { Text } from './filters.js';

/** @typedef {import('./types.d.ts').ComparedBill} Compared */

const channelsPath = '/admin/v1/channels';

const answerMs = 600_000;

const columnNames = ['job', 'amount', 'time', 'model', 'unit'];

/** @typedef {Pick<import('./types.d.ts').PageProps, 'api' | 'may' | 'currency'>} Props */

/** @param {Props} props */
export function BillCheck(props) {
  const [isOpen, setOpen] = useState(false);
  return html`<details
    onToggle=${(/** @type {Event & { currentTarget: HTMLDetailsElement }} */ event) => setOpen(event.currentTarget.open)}
  >
    <summary>Compare an upstream’s bill</summary>
    ${isOpen && html`<${Form} ...${props} />`}
  </details>`;
}

/** @typedef {{ channel: string, columns: Record<string, string>, unit: string, file: File | undefined }} Asked */

/** @param {import('./types.d.ts').Api} api */
function useComparison(api) {
  const [asked, ask] = useState(
    /** @returns {Asked} */ () => ({ channel: '', columns: {}, unit: '', file: undefined }),
  );
  const [isBusy, setBusy] = useState(false);
  const [answer, setAnswer] = useState(/** @type {Compared | Error | undefined} */ (undefined));
  const [body, setBody] = useState(/** @type {object | undefined} */ (undefined));

  /** @param {() => Promise<object>} bodyOf */
  async function compareWith(bodyOf) {
    setBusy(true);
    try {
      const sent = await bodyOf();
      /** @type {Compared} */
      const compared = await api.post('/admin/v1/bills/compare', sent, { answerMs });
      setBody(sent);
      setAnswer(compared);
    } catch (thrown) {
      setAnswer(errorOf(thrown));
    }
    setBusy(false);
  }

  /** @param {Asked & { file: File }} written */
  async function bodyOf({ channel, columns, unit, file }) {
    const bill = await file.text();
    const named = Object.fromEntries(Object.entries(columns).filter(([, name]) => name.trim() !== ''));
    return { channel, bill, columns: named, ...(unit.trim() === '' ? {} : { unit: unit.trim() }) };
  }

  return {
    asked,
    ask,
    isBusy,
    answer,
    compare: () => {
      const { file } = asked;
      if (file !== undefined) void compareWith(() => bodyOf({ ...asked, file }));
    },
    /** Compares the bill from the last comparison again, even if the form has changed since. */
    compareAgain: () => {
      if (body !== undefined) void compareWith(() => Promise.resolve(body));
    },
  };
}

/** @param {Props} props */
function Form({ api, may, currency }) {
  /** @type {import('../shared/live.js').Live<{ data: readonly import('./types.d.ts').Channel[] }>} */
  const channels = useLive(channelsPath, (signal) => api.get(channelsPath, signal), 0);
  const { asked, ask, isBusy, answer, compare, compareAgain } = useComparison(api);
  const { channel, columns, unit, file } = asked;
  if (channels.data === undefined) return html`<${LiveState} live=${channels} />`;
  return html`<form
      class="bill row"
      onSubmit=${(/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        compare();
      }}
    >
      <${Choice}
        label="Channel"
        value=${channel}
        options=${[['', 'Choose one'], ...channels.data.data.map(({ id }) => [id, id])]}
        onChange=${(/** @type {string} */ chosen) => ask((before) => ({ ...before, channel: chosen }))}
      />
      <label class="field">
        <span class="small soft">Bill, CSV in UTF-8</span>
        <input
          type="file"
          accept=".csv,text/csv"
          onChange=${(/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => {
            const [chosen] = event.currentTarget.files ?? [];
            ask((before) => ({ ...before, file: chosen }));
          }}
        />
      </label>
      ${columnNames.map(
        (name) =>
          html`<${Text}
            key=${name}
            label=${`Column of ${name}`}
            value=${columns[name] ?? ''}
            onChange=${(/** @type {string} */ title) => ask((before) => ({ ...before, columns: { ...before.columns, [name]: title } }))}
          />`,
      )}
      <${Text}
        label="Unit"
        value=${unit}
        onChange=${(/** @type {string} */ written) => ask((before) => ({ ...before, unit: written }))}
      />
      <button class="main" disabled=${isBusy || channel === '' || file === undefined}>Compare</button>
    </form>
    <p class="small soft">
      Leave the columns empty if the gateway knows the format of the vendor’s bills. Comparing stores and
      changes nothing.
    </p>
    ${isBusy && html`<p class="soft" role="status">Comparing…</p>`}
    ${answer instanceof Error && html`<p class="notice bad" role="alert"><${Refusal} error=${answer} /></p>`}
    ${answer !== undefined && !(answer instanceof Error) && html`<${Settling} api=${api} may=${may} currency=${currency} compared=${answer} onSettled=${compareAgain} />`}`;
}
