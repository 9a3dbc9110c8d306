import { counted, span, words } from '../shared/format.js';
import { Facts, LiveState, Time } from '../shared/parts.js';
import { html, useState } from '../shared/preact.js';
import { actionsColumn, Table } from '../shared/table.js';
import { balancesOf, channelsPath, slotsOf, useChannels } from './channels.js';
import { Confirm } from './confirm.js';
import { HealthBadge, HealthNotice, openedOf, Until } from './health.js';
import { named } from './names.js';
import { linkTo } from './router.js';
import { useRowKeys } from './row-keys.js';
import { TrendsSection } from './trends.js';

/** @typedef {import('./types.d.ts').Channel} Channel */
/** @typedef {Channel['health']['parts'][number]} Part */
/** @typedef {Record<string, string>} Written */
/**
 * @typedef {{
 *   title: string, effect: string, path: string, body: (written: Written) => unknown,
 *   fields?: readonly import('./confirm.js').Field[],
 * }} Switching `fields`: fields besides the reason.
 */

/** @param {import('./types.d.ts').PageProps & { id: string }} props */
export function ChannelPage({ api, may, id }) {
  const live = useChannels(api);
  useRowKeys();
  const [switching, setSwitching] = useState(/** @type {Switching | undefined} */ (undefined));
  const channel = live.data?.data.find((one) => one.id === id);
  return html`<main>
    <p class="small"><a href=${linkTo(['channels'])}>Channels</a> / ${id}</p>
    <${LiveState} live=${live} />
    ${live.data && channel === undefined && html`<p>The running configuration has no channel with this name.</p>`}
    ${
      channel &&
      html`<${OneChannel}
          channel=${channel}
          may=${may}
          onSwitch=${may('setChannel') ? setSwitching : undefined}
        />
        <${TrendsSection} key=${id} api=${api} channel=${id} />`
    }
    ${
      switching &&
      html`<${Confirm}
        title=${switching.title}
        button=${switching.title}
        effect=${() => switching.effect}
        fields=${[...(switching.fields ?? []), { name: 'reason', label: 'Reason (kept with your name)' }]}
        run=${(/** @type {Written} */ written) => api.post(switching.path, switching.body(written))}
        onSaved=${live.refresh}
        onClose=${() => setSwitching(undefined)}
      />`
    }
  </main>`;
}

/**
 * @param {{
 *   channel: Channel, may: import('./types.d.ts').PageProps['may'], onSwitch?: (switching: Switching) => void,
 * }} props
 */
function OneChannel({ channel, may, onSwitch }) {
  const { id, enabled, switch: used, models, credentials, limits, health, balances } = channel;
  return html`<section class="channel">
    <div class="row apart">
      <h1>
        ${id}
        <${HealthBadge} state=${health.state} />
        <span class="soft small"> ${channel.provider}</span>
      </h1>
      ${
        onSwitch &&
        html`<div class="row opens">
          <button onClick=${() => onSwitch(opening(channel))}>Open a circuit</button>
          <button onClick=${() => onSwitch(pausing(channel))}>${enabled ? 'Pause' : 'Resume'}</button>
        </div>`
      }
    </div>
    <${HealthNotice} health=${health} />
    <${Facts}
      rows=${[
        ['Circuits opened', openedOf(health)],
        [
          'Switched',
          used?.enabled === true && html`on by ${used.by} <${Time} at=${used.at} />: ${used.reason}`,
        ],
        ['Models', models.join(', ')],
        ['Last 3 hours', recentOf(channel)],
        ['Credentials', credentials.join(', ')],
        [
          'Limits',
          Object.entries(limits)
            .map(([name, value]) => `${words(name)} ${String(value)}`)
            .join(', '),
        ],
        ['Slots', slotsOf(channel)],
        ['Balance at the vendor', may('amounts') && balances.length > 0 ? balancesOf(channel) : ''],
        ['Priority, weight', `${channel.priority}, ${channel.weight}`],
        [
          'Tasks',
          html`<a href=${linkTo(['tasks'], { channel: id })}>All tasks of this channel</a>${', '}<a
              href=${linkTo(['tasks'], { channel: id, state: 'attention' })}
              >tasks that need an operator</a
            >${', '}<a href=${linkTo(['tasks'], { waiting_for: id })}
              >${counted(health.waiting?.tasks ?? 0, 'task')} to be submitted here</a
            >`,
        ],
      ]}
    />
    ${health.parts.length > 0 && html`<${Circuits} channel=${channel} onSwitch=${onSwitch} />`}
  </section>`;
}

/** @param {Channel} channel */
function recentOf({ id, recent }) {
  if (recent === null || recent.tasks === 0) return recent === null ? '' : 'no task';
  const { tasks, succeeded, failures, mean_seconds: mean, longest_seconds: longest } = recent;
  const took =
    mean === null || longest === null ? '' : ` in ${span(mean)} on average, ${span(longest)} at most`;
  const whole = `${counted(tasks, 'task')}, ${succeeded.toLocaleString('en')} succeeded${took}`;
  return [whole, ...failures.flatMap((row) => [', ', html`<${Failed} channel=${id} row=${row} />`])];
}

/** @param {{ channel: string, row: { class: string, count: number } }} props */
function Failed({ channel, row: { class: name, count } }) {
  const link = linkTo(['tasks'], { channel, class: name, hours: '3' });
  return html`<a href=${link}>${`${count.toLocaleString('en')} failed: ${named(name)}`}</a>`;
}

/**
 * @param {Channel} channel
 * @returns {Switching}
 */
function pausing({ id, enabled }) {
  return {
    title: enabled ? `Pause ${id}` : `Resume ${id}`,
    effect: enabled
      ? 'Within seconds, all nodes stop submitting new tasks to the channel. Tasks in flight stay on the channel.'
      : 'The configuration file determines again whether the channel accepts new tasks.',
    path: `${channelsPath}/${encodeURIComponent(id)}`,
    body: ({ reason }) => ({ enabled: !enabled, reason }),
  };
}

const minuteSeconds = 60;

/**
 * @param {Channel} channel
 * @returns {Switching}
 */
function opening({ id, credentials, models }) {
  const [first = ''] = credentials;
  return {
    title: `Open a circuit of ${id}`,
    effect:
      'Within five seconds, all nodes stop submitting anything through this circuit. Tasks in flight continue. Waiting tasks move to their next channel, or keep waiting.',
    path: `${channelsPath}/${encodeURIComponent(id)}/circuits`,
    fields: [
      {
        name: 'credential',
        label: 'Credential',
        value: first,
        choices: credentials.map((name) => [name, name]),
      },
      {
        name: 'model',
        label: 'Model',
        choices: [['', 'All models'], ...models.map((name) => [name, name])],
      },
      { name: 'minutes', label: 'Minutes (empty: until the circuit is closed)', isOptional: true },
    ],
    body: ({ credential, model, minutes = '', reason }) => ({
      credential,
      ...(model === '' ? {} : { model }),
      state: 'open',
      ...(minutes === '' ? {} : { seconds: Number(minutes) * minuteSeconds }),
      reason,
    }),
  };
}

/** @param {{ channel: Channel, onSwitch?: (switching: Switching) => void }} props */
function Circuits({ channel, onSwitch }) {
  const act = (/** @type {Part} */ part) =>
    onSwitch &&
    part.can_close &&
    html`<span class="opens">
      <button class="plain" onClick=${() => onSwitch(closing(channel, part))}>Close</button>
    </span>`;
  return html`<${Table}
    label=${`Circuits of ${channel.id}`}
    columns=${[
      { title: 'Circuit', cell: nameOf },
      { title: 'State', cell: (/** @type {Part} */ { state }) => html`<${HealthBadge} state=${state} />` },
      { title: 'Why', isProse: true, cell: (/** @type {Part} */ { text }) => text },
      { title: 'Opened', cell: openedOf },
      { title: 'Waiting', cell: (/** @type {Part} */ { waiting }) => waiting?.tasks },
      { title: 'Since', cell: (/** @type {Part} */ { since }) => html`<${Time} at=${since} />` },
      { title: 'Until', cell: (/** @type {Part} */ { until }) => until && html`<${Until} at=${until} />` },
      actionsColumn(act),
    ]}
    rows=${channel.health.parts}
    keyOf=${(/** @type {Part} */ part) => `${part.scope} ${nameOf(part)}`}
    empty=""
  />`;
}

/** @param {Part} part */
function nameOf({ credential, model }) {
  return model === null ? credential : `${credential}/${model}`;
}

/**
 * @param {Channel} channel
 * @param {Part} part
 * @returns {Switching}
 */
function closing({ id }, part) {
  const { credential, model } = part;
  return {
    title: `Close the circuit ${nameOf(part)}`,
    effect: 'Submissions resume immediately, regardless of earlier failures.',
    path: `${channelsPath}/${encodeURIComponent(id)}/circuits`,
    body: ({ reason }) => ({ credential, ...(model === null ? {} : { model }), state: 'closed', reason }),
  };
}
