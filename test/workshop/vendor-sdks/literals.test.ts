import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { pythonLiterals, typeLiterals } from '../../../workshop/vendor-sdks/type-literals.ts';

const folder = mkdtempSync(join(tmpdir(), 'mediary-literals-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
});

it('reads the literals of TypeScript types, and reports each shape that it cannot read', () => {
  writeFileSync(
    join(folder, 'sdk.d.ts'),
    `declare const ids: { readonly first: 1; readonly second: 2 };
export type Model = keyof typeof ids | (string & {});
export type Params = { model: 'a'; ratio?: '1:1' | null; seconds?: 5 | 10 } | { model: 'b'; ratio?: string };
export interface Provider { video(id: Model): void }
export type Open = string;
export type Mixed = 'a' | { b: 1 };`,
  );
  const sdk = "import('./sdk.js')";
  const types = [
    `${sdk}.Model`,
    `Parameters<${sdk}.Provider['video']>[0]`,
    `${sdk}.Params['model']`,
    `Extract<${sdk}.Params, { model: 'a' }>['ratio']`,
    `Extract<${sdk}.Params, { model: 'a' }>['seconds']`,
    `Extract<${sdk}.Params, { model: 'b' }>['ratio']`,
    `${sdk}.Open`,
    `${sdk}.Mixed`,
    `${sdk}.Renamed`,
    "import('gone').Model",
    `Extract<${sdk}.Params, { model: 'c' }>['ratio']`,
  ];
  expect(typeLiterals(folder, types)).toEqual([
    ['first', 'second'],
    ['first', 'second'],
    ['a', 'b'],
    ['1:1'],
    ['5', '10'],
    { unreadable: expect.stringContaining('string') },
    { unreadable: 'it is string' },
    { unreadable: expect.stringContaining('Mixed') },
    { unreadable: 'it is any' },
    { unreadable: 'it is any' },
    { unreadable: 'it is never' },
  ]);
});

it('reads the literals of types in Python, and reports each shape that it cannot read', () => {
  writeFileSync(
    join(folder, 'made_sdk.py'),
    `from typing import Literal, Optional, TypedDict, Union
Model = Literal["a", "b"]
Open = Union[Model, str]
Empty = None
class Creation(TypedDict, total=False):
    model: Optional[Union[Model, Literal["c"]]]
    count: Literal[1, 2]
    prompt: str
`,
  );
  vi.stubEnv('PYTHONPATH', folder);
  const types = 'Model Creation.model Open Creation.count Creation.prompt Creation.gone Gone'.split(' ');
  const read = pythonLiterals('python3', [...types.map((name) => `made_sdk:${name}`), 'gone:Model']);
  const unreadable = (why: string) => ({ unreadable: expect.stringContaining(why) });
  expect(read).toEqual([
    ['a', 'b'],
    ['a', 'b', 'c'],
    unreadable('str'),
    unreadable('1'),
    unreadable('str'),
    unreadable('gone'),
    unreadable('Gone'),
    unreadable('gone'),
  ]);
});
