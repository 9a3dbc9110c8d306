import { BarChart } from '../shared/chart.js';
import { counted, dateTime, money, sumMoney } from '../shared/format.js';
import { html } from '../shared/preact.js';
import { classNames } from './names.js';
import { failedOf } from './rates.js';

/** @typedef {import('./types.d.ts').Trends} Trends */
/** @typedef {Trends['data'][number]} Step */

/** @param {Step} step */
export const within = ({ delivery }) =>
  delivery === null ? null : (delivery.p95_seconds ?? Number.POSITIVE_INFINITY);
/** The charts draw longer deliveries at this height, including those above the largest bucket. */
const drawnSecondsMax = 600;

/**
 * @typedef {{
 *   label: string, top: string, parts: (step: Step) => readonly { tone: string, value: number }[], words: (step: Step) => string,
 * }} Chart
 */

/**
 * @param {Pick<Trends, 'data'>} trends
 * @returns {Chart[]}
 */
function countCharts({ data }) {
  const total = (/** @type {(step: Step) => number} */ of) =>
    data.reduce((all, step) => all + of(step), 0).toLocaleString('en');
  return [
    {
      label: 'Created',
      top: total(({ created }) => created),
      parts: ({ created }) => [{ tone: 'main', value: created }],
      words: ({ created }) => counted(created, 'task'),
    },
    {
      label: 'Succeeded',
      top: total(({ succeeded }) => succeeded),
      parts: ({ succeeded }) => [{ tone: 'main', value: succeeded }],
      words: ({ succeeded }) => counted(succeeded, 'task'),
    },
    {
      label: 'Failed',
      top: total(failedOf),
      parts: (step) => [{ tone: 'bad', value: failedOf(step) }],
      words: ({ failures }) =>
        failures.map(({ class: name, count }) => `${count} ${classNames[name]}`).join(', ') || 'none',
    },
  ];
}

/**
 * @param {Pick<Trends, 'data' | 'currency'>} trends
 * @returns {Chart[]}
 */
function stockCharts({ data, currency }) {
  const most = Math.max(...data.map(({ unfinished }) => unfinished ?? 0), 0).toLocaleString('en');
  const sum = (/** @type {'held' | 'charged'} */ name) =>
    `${money(sumMoney(data.map((step) => step[name])))} ${currency}`;
  const slowest = Math.max(...data.map((step) => within(step) ?? 0), 0);
  return [
    {
      label: 'Unfinished',
      top: `${most} at most`,
      parts: ({ unfinished }) => [{ tone: 'rest', value: unfinished ?? 0 }],
      words: ({ unfinished }) => counted(unfinished ?? 0, 'task'),
    },
    {
      label: '95 % delivered within',
      top: slowest === 0 ? 'not known' : `${withinWords(slowest)} at most`,
      parts: (step) => [{ tone: 'main', value: Math.min(within(step) ?? 0, drawnSecondsMax) }],
      words: (step) => withinWords(within(step)),
    },
    {
      label: 'Held for created tasks',
      top: sum('held'),
      parts: ({ held }) => [{ tone: 'rest', value: Number(held) }],
      words: ({ held }) => `${money(held)} ${currency}`,
    },
    {
      label: 'Charged',
      top: sum('charged'),
      parts: ({ charged }) => [{ tone: 'main', value: Number(charged) }],
      words: ({ charged }) => `${money(charged)} ${currency}`,
    },
  ];
}

/** @param {{ trends: Trends }} props */
export function Multiples({ trends }) {
  const { data } = trends;
  const charts = [...countCharts(trends), ...stockCharts(trends)];
  const isWhole = data.some(({ unfinished }) => unfinished !== null);
  const [first, last] = [data[0]?.at ?? 0, data.at(-1)?.at ?? 0];
  return html`<div class="multiples">
    ${charts
      .filter(({ label }) => isWhole || label !== 'Unfinished')
      .map(
        ({ label, top, parts, words }) =>
          html`<${BarChart}
            key=${label}
            label=${label}
            top=${top}
            from=${dateTime(first).slice(5, 16)}
            to=${`from ${dateTime(last).slice(5, 16)}`}
            bars=${data.map((step) => ({
              title: `${dateTime(step.at).slice(0, 16)}: ${words(step)}`,
              parts: parts(step),
            }))}
          />`,
      )}
  </div>`;
}

/** @param {number | null} seconds */
export function withinWords(seconds) {
  if (seconds === null) return 'not known';
  return Number.isFinite(seconds) ? `${seconds} s` : 'more than 300 s';
}
