import { expect, it } from 'vitest';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { configChanges, valueChanges } from '../../src/control/config-changes.ts';

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
      path: 'models.clip.price.lines',
      kind: 'changed',
      before: '[{"measure":"call","price":"1"}]',
      after: '[{"measure":"call","price":"2"}]',
    },
  ]);
});

it('shows which private networks a channel may reach', () => {
  const opened = changes((text) =>
    text.replace('provider: test, ', 'provider: test, private_link_networks: [renderer.internal], '),
  );
  expect(opened).toEqual([
    {
      path: 'channels.one.private_link_networks',
      kind: 'changed',
      before: '[]',
      after: '["renderer.internal"]',
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

it('names a whole entry that is new or gone once, without its secrets', () => {
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

it('ignores comments, blanks and the order of entries', () => {
  expect(
    changes((text) => `# new\n${text.replace(/( {2}- \{ id: one.*\n)( {2}- \{ id: two.*\n)/, '$2$1')}`),
  ).toEqual([]);
});

it('an id that looks like a path shows no secret', () => {
  const after = { channels: [{ id: 'one.models.x', base_url: 'https://hidden.example' }] };
  expect(JSON.stringify(valueChanges({ channels: [] }, after))).not.toContain('hidden');
  expect(JSON.stringify(valueChanges({ channels: [{ id: 'one' }] }, after))).not.toContain('hidden');
});
