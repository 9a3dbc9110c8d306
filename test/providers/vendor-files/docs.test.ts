import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { vendorFileSchema } from '../../../src/models/vendor-file.ts';
import { examplesFolder } from './support.ts';

const page = readFileSync(fileURLToPath(new URL('../../../docs/vendor-files.md', import.meta.url)), 'utf8');
const prose = page.replaceAll(/^```[\s\S]*?^```/gm, '');
const words = new Set([...prose.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) => text.split(/[^\w$]+/)));

function keysOf(schema: any): string[] {
  const { properties = {}, anyOf = [], items = {} } = schema;
  const own = Object.entries(properties).flatMap(([name, part]) =>
    name === 'cost' ||
    (name === 'facts' && !('properties' in (part as any) && 'models' in (part as any).properties))
      ? [name]
      : name === 'others'
        ? [name]
        : [name, ...keysOf(part)],
  );
  return [...own, ...anyOf.flatMap(keysOf), ...('type' in items || 'anyOf' in items ? keysOf(items) : [])];
}

describe('docs/vendor-files.md', () => {
  it('names every key of a vendor file', () => {
    const keys = new Set(keysOf(z.toJSONSchema(vendorFileSchema, { io: 'input', unrepresentable: 'any' })));
    for (const known of ['authentication', 'accepted', 'link_life_seconds', 'key_header'])
      expect(keys).toContain(known);
    const plain = new Set(['text', 'headers', 'json', 'form']);
    expect([...keys].filter((key) => !words.has(key) && !plain.has(key))).toEqual([]);
  });

  it('names no key in its table that a vendor file lacks', () => {
    const table = /## Every key\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    const rows = [...table.matchAll(/^\| `([^|]+)` \|/gm)].flatMap(([, name = '']) => name.split('`, `'));
    expect(rows.length).toBeGreaterThan(15);
    const keys = new Set(keysOf(z.toJSONSchema(vendorFileSchema, { io: 'input', unrepresentable: 'any' })));
    expect(rows.map((name) => name.split('.').at(-1) ?? '').filter((name) => !keys.has(name))).toEqual([]);
  });

  it('names every example', () => {
    for (const name of readdirSync(examplesFolder)) expect(page).toContain(`examples/vendors/${name}`);
  });
});
