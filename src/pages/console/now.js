import { counted, roundMoney, span, words } from '../shared/format.js';
import { Badge, LiveState, Time } from '../shared/parts.js';
import { html } from '../shared/preact.js';
import { Table } from '../shared/table.js';
import { Figure } from './figure.js';
import { HealthList } from './health.js';
import { named } from './names.js';
import { goTo, linkTo } from './router.js';
import { useRowKeys } from './row-keys.js';
import { Sentence } from './sentence.js';
import { TrendsSection } from './trends.js';

/** @typedef {import('./types.d.ts').Overview} Overview */

/** If the counts are older, the page shows when they were taken. */
const staleSeconds = 30;

/**
 * @param {import('./types.d.ts').PageProps & { live: import('../shared/live.js').Live<Overview>, overview: Overview }} props
 */
export function Now({ api, live, overview, currency }) {
  const { attention, callbacks, channels, unfinished } = overview;
  useRowKeys();
  const notices = overview.notices.filter(
    // Omit notices that only repeat a count shown above. The notice about missing workers stays, because no count
    // covers it.
    ({ kind, subject }) =>
      kind !== 'circuit_open' &&
      (kind !== 'attention' || !attention.some(({ reason }) => subject.startsWith(reason))),
  );
  const abandoned = callbacks.find(({ state }) => state === 'abandoned')?.count ?? 0;
  const isWell = attention.length + channels.length + notices.length + abandoned === 0;
  const isStale = Date.now() / 1000 - overview.counted_at > staleSeconds;
  return html`<main class="now">
    <div class="row apart head">
      <h1>Now</h1>
      ${isStale && html`<span class="soft small">counted <${Time} at=${overview.counted_at} /></span>`}
    </div>
    <${LiveState} live=${live} />
    ${isWell && html`<p class="notice good"><${Badge} tone="good" word="All is well" /> Nothing needs an operator.</p>`}
    ${attention.length > 0 && html`<${Needed} attention=${attention} />`}
    ${
      channels.length > 0 &&
      html`<section>
        <h2>Channels with problems</h2>
        <${HealthList} channels=${channels} />
      </section>`
    }
    ${notices.length > 0 && html`<${Notices} notices=${notices} />`}
    <${Figures} overview=${overview} currency=${currency} />
    <div class="columns even">
      <section>
        <h2>Tasks of the last day</h2>
        <${Throughput} throughput=${overview.throughput} />
      </section>
      <section>
        <h2>Unfinished</h2>
        <${Unfinished} rows=${unfinished} />
      </section>
    </div>
    <${TrendsSection} api=${api} />
  </main>`;
}

/** @param {readonly { count: number }[]} rows */
function sumOf(rows) {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/** @param {{ overview: Overview, currency: string }} props */
function Figures({ overview: { money: sums, unfinished, callbacks, delivery }, currency }) {
  return html`<div class="figures">
    <${Figure} title="Unfinished tasks" value=${sumOf(unfinished).toLocaleString('en')} />
    <${Figure} title=${`Held ${currency}`} value=${roundMoney(sums.held)} />
    <${Figure}
      title=${`Available ${currency}`}
      value=${roundMoney(sums.available)}
      more=${sums.overdrawn > 0 && `${counted(sums.overdrawn, 'account')} below zero`}
    />
    ${
      delivery &&
      html`<${Figure}
        title="From render to delivery"
        value=${seconds(delivery.p50_seconds)}
        more=${`95 in 100 within ${seconds(delivery.p95_seconds)}; ${counted(delivery.tasks, 'task')}, last 3 h`}
      />`
    }
    ${callbacks
      .filter(({ count }) => count > 0)
      .map(
        ({ state, count, since }) =>
          html`<${Figure}
            title=${`Callbacks ${state}`}
            value=${count.toLocaleString('en')}
            more=${since !== null && html`oldest <${Time} at=${since} />`}
            link=${state === 'abandoned' ? linkTo(['tasks'], { state: 'callback_failed' }) : undefined}
          />`,
      )}
  </div>`;
}

/** @param {number} value */
const seconds = (value) => (value < 10 ? `${value.toFixed(1)} s` : span(value));

/** @typedef {Overview['attention'][number]} Asking */

/** @param {Pick<Asking, 'reason' | 'channel'>} row */
const tasksOf = ({ reason, channel }) => linkTo(['tasks'], { attention: reason, channel });

/** @param {{ attention: readonly Asking[] }} props */
function Needed({ attention }) {
  const count = sumOf(attention);
  return html`<section>
    <h2>${counted(count, 'task')} ${count === 1 ? 'needs' : 'need'} an operator</h2>
    <${Table}
      label="Tasks that need an operator"
      columns=${[
        {
          title: 'Why',
          cell: (/** @type {Asking} */ { reason, channel }) =>
            html`<a href=${tasksOf({ reason, channel })}>${named(reason)}</a>`,
        },
        { title: 'Channel', cell: (/** @type {Asking} */ { channel }) => channel || '–' },
        {
          title: 'Tasks',
          isNumber: true,
          cell: (/** @type {Asking} */ { count: tasks }) => tasks.toLocaleString('en'),
        },
        {
          title: 'Oldest',
          isNumber: true,
          cell: (/** @type {Asking} */ { since }) => html`<${Time} at=${since} />`,
        },
      ]}
      rows=${attention}
      keyOf=${(/** @type {Asking} */ { reason, channel }) => `${reason} ${channel}`}
      onOpen=${(/** @type {Asking} */ row) => goTo(tasksOf(row))}
      empty=""
    />
  </section>`;
}

/** @type {Record<string, string>} */
const noticeTitles = {
  attention: 'Needs an operator',
  callbacks_abandoned: 'Callbacks abandoned',
  low_balance: 'Low balance',
  margin_negative: 'Costs more than it earns',
  model_retired: 'Model shut down',
  upkeep_failing: 'Upkeep fails',
  clock_jumped: 'Database clock jumped',
  ledger_violation: 'Ledger has violations',
};

/** @param {{ notices: Overview['notices'] }} props */
function Notices({ notices }) {
  return html`<section>
    <h2>Other problems</h2>
    ${notices.map(
      ({ kind, subject, text, since }) =>
        html`<div class="notice warn">
          <div class="row">
            <${Badge} tone="warn" word=${noticeTitles[kind] ?? words(kind)} />
            <${Subject} kind=${kind} subject=${subject} />
            <span class="soft">since <${Time} at=${since} /></span>
          </div>
          <div><${Sentence} text=${text} /></div>
        </div>`,
    )}
  </section>`;
}

/** @param {{ kind: string, subject: string }} props */
function Subject({ kind, subject }) {
  if (kind === 'low_balance') return html`<a href=${linkTo(['accounts', subject])}>${subject}</a>`;
  if (kind === 'model_retired') return html`<a href=${linkTo(['models'])}>${subject}</a>`;
  if (kind === 'margin_negative') return html`<a href=${linkTo(['channels'])}>${subject}</a>`;
  return null;
}

/** @typedef {{ title: string, span: string, query: Record<string, string>, hour: number, day: number }} Flow */

/** @param {{ throughput: Overview['throughput'] }} props */
function Throughput({ throughput: { hour, day } }) {
  const classes = [...new Set([...hour.failures, ...day.failures].map((failure) => failure.class))];
  /** @param {typeof hour} counts @param {string} name */
  const failed = (counts, name) => counts.failures.find((failure) => failure.class === name)?.count ?? 0;
  /** @type {Flow[]} */
  const all = [
    { title: 'created', span: 'hours', query: {}, hour: hour.created, day: day.created },
    {
      title: 'succeeded',
      span: 'ended',
      query: { state: 'succeeded' },
      hour: hour.succeeded,
      day: day.succeeded,
    },
    ...classes.map((name) => ({
      title: `failed: ${named(name)}`,
      span: 'ended',
      query: { class: name },
      hour: failed(hour, name),
      day: failed(day, name),
    })),
  ];
  return html`<${Table}
    label="Created and ended tasks"
    columns=${[
      { title: 'Tasks', cell: (/** @type {Flow} */ { title }) => title },
      {
        title: 'Last hour',
        isNumber: true,
        cell: (/** @type {Flow} */ flow) => html`<${Count} flow=${flow} count=${flow.hour} hours="1" />`,
      },
      {
        title: 'Last day',
        isNumber: true,
        cell: (/** @type {Flow} */ flow) => html`<${Count} flow=${flow} count=${flow.day} hours="24" />`,
      },
    ]}
    rows=${all.filter((flow) => flow.day > 0)}
    keyOf=${(/** @type {Flow} */ { title }) => title}
    empty="No task was created, and none has ended, in the last day."
  />`;
}

/** @param {{ flow: Flow, count: number, hours: string }} props */
function Count({ flow: { span: name, query }, count, hours }) {
  const figure = count.toLocaleString('en');
  return count === 0 ? figure : html`<a href=${linkTo(['tasks'], { ...query, [name]: hours })}>${figure}</a>`;
}

/** @typedef {Overview['unfinished'][number]} Depth */

/** @param {Depth} row */
function waitOf({ state, waits_for: waits }) {
  return named(waits === '' ? state : waits);
}

/**
 * Several states can have the same text, because they wait for the same thing. Their counts are added up in one row.
 *
 * @param {readonly Depth[]} rows
 */
function byWait(rows) {
  /** @type {Map<string, Depth>} */
  const sums = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.channel, waitOf(row)]);
    const { count = 0, since = row.since } = sums.get(key) ?? {};
    sums.set(key, { ...row, count: count + row.count, since: Math.min(since, row.since) });
  }
  return [...sums.values()];
}

/** @param {{ rows: readonly Depth[] }} props */
function Unfinished({ rows }) {
  return html`<${Table}
    label="Unfinished tasks"
    columns=${[
      { title: 'Channel', cell: (/** @type {Depth} */ { channel }) => channel },
      {
        title: 'Waits for',
        isProse: true,
        cell: waitOf,
      },
      {
        title: 'Tasks',
        isNumber: true,
        cell: (/** @type {Depth} */ { count }) => count.toLocaleString('en'),
      },
      {
        title: 'Oldest',
        isNumber: true,
        cell: (/** @type {Depth} */ { since }) => html`<${Time} at=${since} />`,
      },
    ]}
    rows=${byWait(rows)}
    keyOf=${(/** @type {Depth} */ row) => `${row.channel} ${waitOf(row)}`}
    empty="No task is unfinished."
  />`;
}
