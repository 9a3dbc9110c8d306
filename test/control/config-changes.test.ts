import fc from 'fast-check';
import { expect, it } from 'vitest';
import { changeText } from '../../src/base/config-change.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { configChanges, valueChanges } from '../../src/control/config-changes.ts';
import { listChanges } from '../../src/control/list-changes.ts';

const yaml = `
currency: USD
channels:
  - { id: one, provider: test, base_url: "https://key-in-address.example", credentials: [{ id: a, api_key: key-before }], models: { clip: { upstream: u } } }
  - { id: two, provider: test, base_url: "https://two.example", credentials: [{ id: b, api_key: k }], models: { clip: { upstream: u } } }
models:
  - { id: clip, kind: video, price: { lines: [{ measure: call, price: "1" }] } }
notify:
  targets: [{ id: desk, url: "https://hooks.example/secret-path" }]
`;

const parse = (text: string) =>
  parseGatewayConfig(text, 'test.yaml', { environment: {}, providerNames: ['test'] });

function changes(change: (text: string) => string) {
  return configChanges(parse(yaml), parse(change(yaml)));
}

it('names each place by the ids of its entries, with the value before and after', () => {
  const changed = changes((text) =>
    text
      .replace('price: "1"', 'price: "2"')
      .replace('id: two,', 'id: two, priority: 3, enabled: false,')
      .replace('upstream: u } } }\nmodels', 'upstream: v } } }\nmodels'),
  );
  expect(changed).toEqual([
    { path: 'channels.two.enabled', kind: 'changed', before: 'true', after: 'false' },
    { path: 'channels.two.priority', kind: 'changed', before: '0', after: '3' },
    { path: 'channels.two.models.clip.upstream', kind: 'changed', before: '"u"', after: '"v"' },
    {
      path: 'models.clip.price.lines[0].price',
      kind: 'changed',
      before: '"1"',
      after: '"2"',
    },
  ]);
});

it('shows which private networks a channel may reach', () => {
  const opened = changes((text) =>
    text.replace('provider: test, ', 'provider: test, private_link_networks: [renderer.internal], '),
  );
  expect(opened).toEqual([
    {
      path: 'channels.one.private_link_networks[0]',
      kind: 'added',
      after: '"renderer.internal"',
    },
  ]);
});

it('reports that a secret or an address has changed, but never its values', () => {
  const changed = changes((text) =>
    text
      .replace('key-before', 'key-after')
      .replace('key-in-address', 'other-key')
      .replace('secret-path', 'secret-way'),
  );
  expect(changed.map(({ path, kind }) => [path, kind])).toEqual([
    ['channels.one.base_url', 'changed'],
    ['channels.one.credentials.a.api_key', 'changed'],
    ['notify.targets.desk.url', 'changed'],
  ]);
  expect(JSON.stringify(changed)).not.toMatch(/key-(?:before|after)|other-key|secret-/);
});

it('names a whole entry that was added or removed once, without its secrets', () => {
  const gone = changes((text) => text.replace(/ {2}- \{ id: two.*\n/, ''));
  expect(gone).toEqual([{ path: 'channels.two', kind: 'removed' }]);
  const added = changes((text) =>
    text.replace(
      'models:\n',
      'models:\n  - { id: new, kind: image, price: { lines: [{ measure: image, price: "1" }] } }\n',
    ),
  );
  expect(added).toMatchObject([{ path: 'models.new', kind: 'added' }]);
});

const line = (price: string, resolution?: string) => ({
  measure: 'million_tokens',
  price,
  ...(resolution === undefined ? {} : { when: { resolution } }),
});
const list = ['480p', '720p', '1080p', '4k', '8k'].map((resolution, at) => line(`${at + 4}.00`, resolution));
const priced = (lines: readonly unknown[]) => ({ models: [{ id: 'clip-2.0', price: { lines } }] });
const lineChanges = (after: readonly unknown[], before: readonly unknown[] = list) =>
  valueChanges(priced(before), priced(after)).map(changeText);

it('names the one price that changed in a long list', () => {
  expect(lineChanges(list.with(3, line('14', '4k')))).toEqual([
    'models.clip-2.0.price.lines[3].price: "7.00" → "14"',
  ]);
});

it('names inserted and removed elements of a list without ids, but not those that only moved', () => {
  const fresh = line('1.00', 'preview');
  const text = '{"measure":"million_tokens","price":"1.00","when":{"resolution":"preview"}}';
  expect(lineChanges([fresh, ...list])).toEqual([`models.clip-2.0.price.lines[0] added: ${text}`]);
  expect(lineChanges(list, [...list, fresh])).toEqual([`models.clip-2.0.price.lines[5] removed: ${text}`]);
  expect(lineChanges([...list.slice(2, 4), line('9.50', '8k')])).toEqual([
    expect.stringMatching(/lines\[0\] removed: .*480p/),
    expect.stringMatching(/lines\[1\] removed: .*720p/),
    'models.clip-2.0.price.lines[2].price: "8.00" → "9.50"',
  ]);
  expect(lineChanges([], list)).toHaveLength(5);
  expect(lineChanges(list, [])).toHaveLength(5);
});

it('rebuilds the new list from the old one and its changes', () => {
  const element = fc.integer({ min: 0, max: 3 });
  const lists = fc.array(element, { maxLength: 12 });
  fc.assert(
    fc.property(lists, lists, (before, after) => {
      const changed = listChanges(before, after);
      const gone = new Set(changed.map(({ was }) => was));
      const fresh = new Map(changed.map(({ is }) => [is, 0]));
      const kept = before.filter((_, at) => !gone.has(at)).values();
      const rebuilt = after.map((value, at) => (fresh.has(at) ? value : kept.next().value));
      expect([rebuilt, kept.next().done]).toEqual([after, true]);
    }),
  );
});

it('compares very long lists by index, and quickly', () => {
  const long = Array.from({ length: 20_000 }, (_, at) => `network-${at}`);
  const other = long.with(0, 'first').with(19_999, 'last');
  expect(listChanges(long, other)).toEqual([
    { was: 0, is: 0 },
    { was: 19_999, is: 19_999 },
  ]);
});

it('shows where two long texts begin to differ', () => {
  const words = 'word '.repeat(100);
  const [change] = valueChanges(
    { models: [{ id: 'clip', description: `${words}old` }] },
    { models: [{ id: 'clip', description: `${words}new` }] },
  );
  expect([change?.before, change?.after]).toEqual([
    expect.stringMatching(/^….*old"$/),
    expect.stringMatching(/^….*new"$/),
  ]);
});

it('ignores comments, blanks and the order of entries', () => {
  expect(
    changes((text) => `# new\n${text.replace(/( {2}- \{ id: one.*\n)( {2}- \{ id: two.*\n)/, '$2$1')}`),
  ).toEqual([]);
});

it('an id that looks like a path reveals no secret', () => {
  const after = { channels: [{ id: 'one.models.x', base_url: 'https://hidden.example' }] };
  expect(JSON.stringify(valueChanges({ channels: [] }, after))).not.toContain('hidden');
  expect(JSON.stringify(valueChanges({ channels: [{ id: 'one' }] }, after))).not.toContain('hidden');
});
