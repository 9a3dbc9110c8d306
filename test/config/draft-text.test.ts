import { expect, it } from 'vitest';
import { z } from 'zod';
import { concealText, editText, readText, replaceSecrets, restoreText } from '../../src/config/draft-text.ts';
import { fileSchema } from '../../src/config/gateway-schema.ts';
import { draftIssues, draftSecretsIn, originOfWritten, secretsIn } from '../../src/config/secret-places.ts';
import { readYaml } from '../../src/config/read-yaml.ts';

const text = `# the prices of spring
currency: USD
channels:
  - id: one
    provider: test
    base_url: https://api.example/\${REGION} # the public one
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

it('a change at a pointer keeps the comments', () => {
  const result = editText(text, { '/models/clip-1.5/price/lines/0/price': '0.2', '/channels/one/weight': 2 });
  const changed = 'text' in result ? result.text : '';
  expect(changed).toContain('# the prices of spring');
  expect(changed).toContain('# the public one');
  expect(valueOf(changed).models[0].price.lines[0].price).toBe('0.2');
  expect(valueOf(changed).channels[0].weight).toBe(2);
});

it('an unknown id adds an entry, and null removes one', () => {
  const added = edited({ '/models/clip-2': { kind: 'video' }, '/channels/one/credentials/a': null });
  expect(added.models[1]).toEqual({ id: 'clip-2', kind: 'video' });
  expect(added.channels[0].credentials).toEqual([{ id: 'b', api_key: '${ONE_KEY}' }]);
});

it.each([
  ['models/clip', 1],
  ['/models/none/price', 1],
  ['/currency/of/what', 1],
  ['/models/99/id', 1],
])('%s is refused because it does not exist', (pointer, value) => {
  expect(edited({ [pointer]: value })).toEqual({ violation: expect.stringContaining(pointer) });
});

it('an alias along the path and a text that is not YAML are refused', () => {
  expect(editText('a: &x { b: 1 }\nc: *x\n', { '/c/b': 2 })).toHaveProperty('violation');
  const broken = readText('currency: USD\n  api_key: "sk-secret');
  expect(broken).toHaveProperty('violation');
  expect(JSON.stringify(broken)).not.toContain('sk-secret');
});

it('secrets in the text are concealed, restored by their ids, and replaced', async () => {
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
  ]);
  expect(replaced).not.toContain('sk-written');
  expect(replaced).toContain('secret-room');
  expect(await replaceSecrets(replaced, () => Promise.reject(new Error('asked twice')))).toBe(replaced);
});

it('every secret of the schema is concealed', () => {
  const schema = z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' });
  const places = secretPlacesOf(schema, '');
  expect(places).toContain('/ledger/heads/token');
  for (const place of places) {
    const value = place
      .split('/')
      .slice(1)
      .reduceRight<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), 'hidden');
    expect(secretsIn(value)).toEqual([expect.objectContaining({ place, value: 'hidden' })]);
  }
});

function secretPlacesOf(schema: any, at: string): string[] {
  const own = Object.entries<any>(schema.properties ?? {}).flatMap(([name, inner]) => {
    const isSecret = /(?:key|key_id|secret|token)$/.test(name) && inner.type === 'string';
    return isSecret ? [`${at}/${name}`] : secretPlacesOf(inner, `${at}/${name}`);
  });
  const entries = schema.items === undefined ? [] : secretPlacesOf(schema.items, `${at}/0`);
  const variants = (schema.anyOf ?? []).flatMap((one: any) => secretPlacesOf(one, at));
  return [...own, ...entries, ...variants];
}

it('secrets are concealed whatever the id is', () => {
  for (const id of ['', 'a/b', 'credentials/a']) {
    for (const entry of ['/channels/one', '/channels/one/credentials/a', '/notify/targets/chat']) {
      const result = editText(text, { [`${entry}/id`]: id });
      const shown = concealText('text' in result ? result.text : text);
      expect(shown).not.toMatch(/sk-written|secret-room/);
    }
  }
});

it('a secret that was written before stays with its server, even under another id', () => {
  const before = secretsIn(valueOf(text));
  const origins = (edits: Record<string, unknown>) =>
    draftSecretsIn(edited(edits)).map((secret) => originOfWritten(secret, before));
  const moved = { '/channels/one/base_url': 'https://evil.example' };
  expect(origins(moved)).toEqual(['https://api.example']);
  expect(origins({ ...moved, '/channels/one/credentials/a/id': 'c' })).toEqual(['https://api.example']);
  const key = { '/channels/one/credentials/a/api_key': 'sk-new' };
  expect(origins({ ...moved, ...key })).toEqual(['https://evil.example']);
});

it('a draft has no more access to the machine than the running configuration', () => {
  const origins = new Map([['key', 'https://api.example']]);
  const issues = (edits: Record<string, unknown>) => {
    const draft = edited(edits);
    expect(draft).not.toHaveProperty('violation');
    return draftIssues(valueOf(text), draft, origins);
  };
  const key = '/channels/one/credentials/a/api_key';
  expect(issues({})).toEqual([]);
  expect(issues({ [key]: '${sealed:key}' })).toEqual([]);
  expect(issues({ [key]: '${NEW_KEY}' })).toEqual([]);
  expect(issues({ '/channels/one/private_networks': ['10.0.0.0/8'] })).toEqual([]);
  expect(issues({ '/notify/low_balance': '1' })).toEqual([]);
  const evil = 'https://evil.example';
  const refused: Record<string, unknown>[] = [
    { '/notify/targets/mail/command': ['sh', '-c', 'id'] },
    { '/notify/targets/mail/command': ['mail'] },
    { '/notify/targets/mail/command': ['notice', '-s', 'mail'] },
    { '/notify/targets/chat/url': 'https://10.0.0.1' },
    { '/notify/targets/chat/url': `${evil}/\${AWS_SECRET_ACCESS_KEY}` },
    { '/notify/targets/chat': null },
    { '/ledger/heads': { directory: '/etc' } },
    { '/results/directory': '/etc' },
    { '/channels/one/private_networks': ['127.0.0.0/8'] },
    { '/channels/one/private_link_networks': ['10.0.0.0/8'] },
    { '/channels/two': { private_networks: ['10.0.0.0/8'] } },
    { '/channels/one/base_url': `${evil}/?k=\${ONE_OTHER}` },
    { '/channels/one/base_url': `${evil}/\${ONE_KEY}` },
    { '/channels/one/base_url': `${evil}/\${REGION}` },
    { '/models/clip-1.5/owned_by': '${ONE_KEY}' },
    { [key]: 'of-${ONE_KEY}' },
    { [key]: '${SECRETS_KEY}' },
    { '/models/clip-1.5/id': '${sealed:key}' },
    { [key]: 'of-${sealed:key}' },
    { [key]: '${sealed:key}', '/channels/one/base_url': evil },
  ];
  for (const edits of refused) expect([edits, issues(edits).length > 0]).toEqual([edits, true]);
});
