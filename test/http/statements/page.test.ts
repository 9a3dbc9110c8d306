import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { page } from '../../../src/http/statements/page.ts';
import type { TitledStatement } from '../../../src/http/statements/form.ts';

const hostile = `</title><script>alert(1)</script>"'&\u202E`;
const balance = { available: 1n, held: 0n, seq: 0n };
const statement: TitledStatement = {
  account: 'acme',
  name: hostile,
  currency: 'USD',
  month: '2026-11',
  period: { from: 0, before: 1 },
  opening: balance,
  closing: balance,
  sums: () => [],
  pages: () => {
    throw new Error('not read here');
  },
};

it('its policy allows its own style and nothing else', () => {
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page.open(statement)) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(page.headers['content-security-policy']).toContain(
    `default-src 'none'; style-src 'sha256-${hash}';`,
  );
});

it('user input is shown as text', () => {
  const entry = {
    id: 'acme/1',
    account: 'acme',
    seq: 1n,
    key: `credit:acme:${hostile}`,
    kind: 'credit',
    amount: 1n,
    available: 1n,
    held: 0n,
    at: 0,
    hash: '',
    change: 1n,
    reference: hostile,
    note: hostile,
  } as const;
  const text = page.open(statement) + page.rows([entry]) + page.close(statement);
  expect(text).not.toMatch(/<script|\u202E/);
  expect(text.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;&quot;&#39;&amp;/g)).toHaveLength(4);
});
