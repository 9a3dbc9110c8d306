/** A page with every part of src/pages/shared, for visual inspection. Only test/pages/parts.test.ts serves it. */
import { ApiError, OfflineError } from '../../src/pages/shared/api.js';
import { Callback } from '../../src/pages/shared/callback.js';
import { BarChart, Share } from '../../src/pages/shared/chart.js';
import { Choice } from '../../src/pages/shared/choice.js';
import { Copy } from '../../src/pages/shared/copy.js';
import { Dialog, hold } from '../../src/pages/shared/dialog.js';
import { Badge, Facts, Label, LiveState, Refusal, Time } from '../../src/pages/shared/parts.js';
import { GroupBy, Period } from '../../src/pages/shared/period.js';
import { html, render, useState } from '../../src/pages/shared/preact.js';
import { Reckoning } from '../../src/pages/shared/reckoning.js';
import { Secret } from '../../src/pages/shared/secret.js';
import { actionsColumn, Table } from '../../src/pages/shared/table.js';

const at = Date.now() / 1000 - 90;
const nothing = () => {};
const refusal = new ApiError({
  status: 400,
  code: 'invalid_parameter',
  param: 'model',
  message: 'There is no model “clip-9”.',
  requestId: '5a95d789',
});
/** @param {object} state What differs from loaded, current data. */
const live = (state) => ({
  data: 1,
  error: undefined,
  offlineSince: undefined,
  refresh: nothing,
  ...state,
});

/** Returns the custom properties that tokens.css defines. @param {RegExp} wanted */
function tokens(wanted) {
  const names = [...document.styleSheets]
    .flatMap(({ cssRules }) => [...cssRules])
    .flatMap((rule) =>
      rule instanceof CSSStyleRule && rule.selectorText === ':root' ? [...rule.style] : [],
    );
  const values = getComputedStyle(document.documentElement);
  return names.flatMap((name) => {
    const value = values.getPropertyValue(name);
    return name.startsWith('--') && wanted.test(value) ? [{ name, value }] : [];
  });
}

function Tokens() {
  return html`<section>
    <h1>Heading of a page</h1>
    <h2>Heading of a section</h2>
    <p>Text, <a href="#top">a link</a>, <span class="soft">soft text</span>, <code>code</code></p>
    <p class="small">Small text, and <span class="soft">small soft text</span></p>
    <${Facts} rows=${tokens(/^(?!.*[#(])/).map(({ name, value }) => [name, html`<code>${value}</code>`])} />
    <h2>Colours</h2>
    <p class="row">
      ${tokens(/[#(]/).map(
        ({ name }) =>
          html`<span class="small">
            <span class="swatch" style=${`background: var(${name})`}></span>
            ${name}
          </span>`,
      )}
    </p>
  </section>`;
}

function Buttons() {
  return html`<h2>Buttons</h2>
    ${['', 'main', 'destructive', 'main destructive', 'risky', 'main risky', 'plain'].map(
      (look) =>
        html`<p class="row">
          <button class=${look}>${look === '' ? 'other' : look}</button>
          <button class=${look} disabled>disabled</button>
        </p>`,
    )}
    <p class="row filters">
      <button aria-pressed="true">pressed</button><a class="button" href="#top">link</a>
    </p>`;
}

function Notices() {
  return html`<h2>Notices</h2>
    ${['', 'good', 'warn', 'bad'].map((tone) => html`<p class=${`notice ${tone}`}>A notice ${tone && `(${tone})`}</p>`)}`;
}

const rows = [
  { name: 'lighthouse', tone: 'good', cost: '1.5', change: '-0.25', note: 'Prose may have several lines.' },
  { name: 'paper boat', tone: 'bad', cost: '12', change: '3', note: '' },
];
/** @typedef {typeof rows[number]} Row */
const columns = [
  { title: 'Name', cell: (/** @type {Row} */ { name }) => name, by: (/** @type {Row} */ { name }) => name },
  { title: 'Cost USD', money: (/** @type {Row} */ { cost }) => cost },
  { title: 'Change USD', movement: (/** @type {Row} */ { change }) => change },
  { title: 'State', cell: (/** @type {Row} */ { tone }) => html`<${Badge} tone=${tone} word=${tone} />` },
  { title: 'Note', isProse: true, cell: (/** @type {Row} */ { note }) => note },
  actionsColumn(() => html`<button class="plain">Revoke</button>`),
];

const manyColumns = [1, 2, 3, 4].flatMap((n) =>
  columns.map(({ title, ...column }) => ({ ...column, title: `${title} ${n}` })),
);

/** @param {{ rows: readonly Row[], of?: typeof columns }} props */
function Rows({ rows: shown, of = columns }) {
  const selection = { has: (/** @type {string} */ key) => key === 'lighthouse', toggle: nothing };
  return html`<${Table}
    label=${`Table of ${shown.length} rows and ${of.length} columns`}
    columns=${of}
    rows=${shown}
    keyOf=${(/** @type {Row} */ { name }) => name}
    empty="Nothing matches."
    selection=${selection}
    onOpen=${nothing}
  />`;
}

const reckoned = {
  amount: '0.5',
  rules_of: 'model',
  channel: 'main',
  facts: [{ name: 'duration', value: 5, source: 'request' }],
  lines: [{ index: 0, text: '0.10 USD × 5 seconds', source: 'request', when: {}, amount: '0.5' }],
  steps: [{ text: 'the sum of the lines', amount: '0.5' }],
};
const bars = [3, 5, 0, 8].map((value, hour) => ({
  title: `${hour}:00`,
  parts: [
    { tone: 'main', value },
    { tone: 'rest', value: value / 4 },
    { tone: 'bad', value: value / 8 },
  ],
}));
const sent = [{ at, duration_ms: 35, status: 204, error: null }];
const may = {
  isFirst: false,
  value: 'a',
  options: [
    ['a', 'One'],
    ['b', 'Other'],
  ],
  onChange: nothing,
};

/** How each part is rendered, by name. @type {Record<string, () => unknown>} */
const samples = {
  Badge: () =>
    ['good', 'busy', 'warn', 'bad', 'idle'].map((tone) => html`<${Badge} tone=${tone} word=${tone} /> `),
  Time: () => html`<${Time} at=${at} />, <${Time} at=${at} exact />, <${Time} at=${null} />`,
  LiveState: () => [
    html`<${LiveState} live=${live({ data: undefined })} />`,
    html`<${LiveState} live=${live({ error: new OfflineError('offline'), offlineSince: at * 1000 })} />`,
    html`<${LiveState} live=${live({ error: refusal })} />`,
  ],
  Refusal: () => html`<${Refusal} error=${refusal} />`,
  Facts: () =>
    html`<${Facts}
      rows=${[
        ['Model', 'clip-1'],
        ['Left out', ''],
        ['Held', '0.50 USD'],
      ]}
    />`,
  Label: () => html`<label><${Label} text="Reason (kept with your name)" /> <input /></label>`,
  Table: () => [
    html`<${Rows} rows=${rows} />`,
    html`<${Rows} rows=${rows} of=${manyColumns} />`,
    html`<${Rows} rows=${[]} />`,
  ],
  BarChart: () => html`<${BarChart} label="Tasks" top="11 at most" from="0:00" to="4:00" bars=${bars} />`,
  Share: () => html`<${Share} of=${3} most=${8} />`,
  Choice: () => html`<div class="row filters"><${Choice} label="Filter" ...${may} /></div>`,
  Period: () =>
    html`<${Period} asked=${{ name: '', from: '2026-01-01', to: '2026-02-01' }} onChange=${nothing} />`,
  GroupBy: () =>
    html`<${GroupBy}
      by="day"
      groups=${[
        ['day', 'Day'],
        ['model', 'Model'],
      ]}
      onChange=${nothing}
    />`,
  Copy: () => html`<code>task_1</code> <${Copy} text="task_1" what="the id" />`,
  Reckoning: () => html`<${Reckoning} title="Held" how=${reckoned} currency="USD" />`,
  Callback: () =>
    html`<${Callback} delivery=${{ state: 'delivered', target: 'https://shop.example', attempts: sent }} />`,
  hold: () => html`<form class="start" onSubmit=${hold}><${Fields} of="page" /></form>`,
  Dialog: () => html`<${Opened} name="dialog" of=${Form} />`,
  Secret: () => html`<${Opened} name="secret" of=${Shown} />`,
};

/** @param {{ of: string }} props */
function Fields({ of }) {
  return html`<label class="stacked">Name <input placeholder=${`Of the ${of}`} /></label>
    <${Choice} label="Choice" ...${may} />
    <label class="stacked">Reason <textarea></textarea></label>
    <label class="check"><input type="checkbox" checked /> Ticked</label>
    <div class="row ends"><button type="button">Test</button><button class="main">Save</button></div>`;
}

/** @param {{ onClose: () => void }} props */
function Form({ onClose }) {
  return html`<${Dialog} title="Title of a dialog" onClose=${onClose}>
    <form onSubmit=${hold}><${Fields} of="dialog" /></form>
    <p class="notice">What it will do.</p>
  <//>`;
}

/** @param {{ onClose: () => void }} props */
function Shown({ onClose }) {
  return html`<${Secret} title="New key" secret="sk-1234" note="For the shop." onClose=${onClose} />`;
}

/** @param {{ name: string, of: (props: { onClose: () => void }) => unknown }} props */
function Opened({ name, of: Part }) {
  const [isOpen, setOpen] = useState(false);
  return html`<button onClick=${() => setOpen(true)}>Open the ${name}</button>
    ${isOpen && html`<${Part} onClose=${() => setOpen(false)} />`}`;
}

render(
  html`<main>
    <${Tokens} />
    <${Buttons} />
    <${Notices} />
    ${Object.entries(samples).map(
      ([name, sample]) =>
        html`<section>
          <h2>${name}</h2>
          <div data-part=${name}>${sample()}</div>
        </section>`,
    )}
  </main>`,
  document.body,
);
