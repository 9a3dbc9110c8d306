import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../../src/config/read-yaml.ts';

const names = 'abcdefghij';
/** A YAML bomb. Each list contains the previous one nine times, which makes 9^10 words in total. */
const bomb = Array.from(names, (name, n) => {
  const item = n === 0 ? 'word' : `*${names[n - 1]}`;
  return `${name}: &${name} [${Array.from({ length: 9 }, () => item).join(', ')}]`;
}).join('\n');

describe('gateway.yaml as text', () => {
  it('is read as its value, aliases included', () => {
    expect(readYaml('a: &a { x: 1 }\nb: [*a, *a]')).toEqual({
      value: { a: { x: 1 }, b: [{ x: 1 }, { x: 1 }] },
    });
    expect(readYaml('')).toEqual({ value: null });
    expect(readYaml(readFileSync('gateway.example.yaml', 'utf8'))).toHaveProperty('value.models');
  });

  it('is refused with its errors', () => {
    const read = readYaml('a: [1\nb: "');
    expect('violations' in read && read.violations.join()).toContain('line 2');
  });

  it.each([
    ['a bomb of aliases', bomb, 'an alias'],
    ['a bomb in merged mappings', `%YAML 1.1\n---\n${bomb}\nk: { <<: *j }`, 'an alias'],
    ['an alias of itself', 'a: &a [*a]', 'an alias'],
    ['an alias of nothing', 'a: *b', 'an alias'],
    ['lists in lists', `a: ${'['.repeat(5000)}${']'.repeat(5000)}`, 'more than 32 levels'],
    ['lists in lists, without brackets', `${'- '.repeat(5000)}x`, 'more than 32 levels'],
    ['mappings in mappings', '{a: '.repeat(5000), 'more than 32 levels'],
    ['many keys', Array.from({ length: 2001 }, (_, n) => `k${n}: 1`).join('\n'), 'more than 2000 entries'],
    ['nothing that is YAML', '}'.repeat(100_000), 'more than 20 errors'],
    ['a large file', 'a: 1 '.padEnd(256 * 1024 + 1, ' '), 'larger than 262144 bytes'],
  ])('is refused for %s', (_, text, why) => {
    const read = readYaml(text);
    expect('violations' in read && read.violations.join()).toContain(why);
  });
});
