import { expect, it } from 'vitest';
import { concealText, editText, readText, replaceSecrets, restoreText } from '../../src/config/draft-text.ts';
import { draftIssues } from '../../src/config/secret-places.ts';
import { readYaml } from '../../src/config/read-yaml.ts';

const text = `# the prices of spring
currency: USD
channels:
  - id: one
    provider: test
    base_url: https://api.example/v1 # the public one
    private_networks: [10.0.0.0/8]
    credentials: [{ id: a, api_key: sk-written-in-the-file }, { id: b, api_key: "\${ONE_KEY}" }]
models:
  - { id: clip-1.5, price: { lines: [{ measure: second, price: "0.1" }] } }
notify:
  targets:
    - { id: mail, command: [mail, -s, notice] }
    - { id: chat, url: https://chat.example/secret-room }
`;

const valueOf = (yaml: string): any => {
  const read = readYaml(yaml);
  return 'value' in read ? read.value : read;
};
const edited = (edits: Record<string, unknown>): any => {
  const result = editText(text, edits);
  return 'text' in result ? valueOf(result.text) : result;
};

it('a value is changed at its pointer, and comments stay', () => {
  const result = editText(text, { '/models/clip-1.5/price/lines/0/price': '0.2', '/channels/one/weight': 2 });
  const changed = 'text' in result ? result.text : '';
  expect(changed).toContain('# the prices of spring');
  expect(changed).toContain('# the public one');
  expect(valueOf(changed).models[0].price.lines[0].price).toBe('0.2');
  expect(valueOf(changed).channels[0].weight).toBe(2);
});

it('an id that no entry has adds one, and null removes', () => {
  const added = edited({ '/models/clip-2': { kind: 'video' }, '/channels/one/credentials/a': null });
  expect(added.models[1]).toEqual({ id: 'clip-2', kind: 'video' });
  expect(added.channels[0].credentials).toEqual([{ id: 'b', api_key: '${ONE_KEY}' }]);
});

it.each([
  ['models/clip', 1],
  ['/models/none/price', 1],
  ['/currency/of/what', 1],
  ['/models/99/id', 1],
])('%s names nothing', (pointer, value) => {
  expect(edited({ [pointer]: value })).toEqual({ violation: expect.stringContaining(pointer) });
});

it('an alias on the way, and what would be no file, are refused', () => {
  expect(editText('a: &x { b: 1 }\nc: *x\n', { '/c/b': 2 })).toHaveProperty('violation');
  const broken = readText('currency: USD\n  api_key: "sk-secret');
  expect(broken).toHaveProperty('violation');
  expect(JSON.stringify(broken)).not.toContain('sk-secret');
});

it('written secrets are concealed, restored by their ids, and replaced', async () => {
  const shown = concealText(text);
  expect(shown).not.toContain('sk-written');
  expect(shown).not.toContain('secret-room');
  expect(shown).toContain('${ONE_KEY}');
  const moved = shown
    .replace('{ id: a, api_key: ${kept} }, ', '')
    .replace('credentials: [', 'credentials: [{ id: a, api_key: "${kept}", callback_secret: cs }, ');
  const restored = valueOf(restoreText(moved.includes('callback_secret') ? moved : shown, text));
  expect(restored.channels[0].credentials).toContainEqual(
    expect.objectContaining({ id: 'a', api_key: 'sk-written-in-the-file' }),
  );
  const given: unknown[] = [];
  const replaced = await replaceSecrets(text, async ({ place, of, value, origin }) => {
    given.push([place, of, value, origin]);
    return '${sealed:x}';
  });
  expect(given).toEqual([
    ['/channels/one/credentials/a/api_key', 'one.a', 'sk-written-in-the-file', 'https://api.example'],
    ['/notify/targets/chat/url', 'chat', 'https://chat.example/secret-room', undefined],
  ]);
  expect(replaced).not.toContain('sk-written');
  expect(await replaceSecrets(replaced, () => Promise.reject(new Error('asked twice')))).toBe(replaced);
});

it('a draft reaches no further into the machine than the running configuration', () => {
  const issues = (edits: Record<string, unknown>) => {
    const result = editText(text, edits);
    const origins = new Map([['key', 'https://api.example']]);
    return draftIssues(valueOf(text), valueOf('text' in result ? result.text : ''), origins);
  };
  const key = '/channels/one/credentials/a/api_key';
  expect(issues({})).toEqual([]);
  expect(issues({ [key]: '${sealed:key}' })).toEqual([]);
  expect(issues({ [key]: '${NEW_KEY}' })).toEqual([]);
  const refused: Record<string, unknown>[] = [
    { '/notify/targets/mail/command': ['sh', '-c', 'id'] },
    { '/channels/one/private_networks': ['127.0.0.0/8'] },
    { '/channels/one/private_link_networks': ['10.0.0.0/8'] },
    { '/channels/one/base_url': 'https://evil.example/?k=${ONE_OTHER}' },
    { [key]: '${SECRETS_KEY}' },
    { '/models/clip-1.5/id': '${sealed:key}' },
    { '/notify/targets/chat/url': 'https://evil.example/${sealed:key}' },
    { '/notify/targets/chat/secret': '${sealed:key}' },
    { [key]: '${sealed:key}', '/channels/one/base_url': 'https://evil.example' },
  ];
  for (const edits of refused) expect([edits, issues(edits).length > 0]).toEqual([edits, true]);
});
