import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBodyBudget } from '../../../src/http/bodies/body-budget.ts';
import {
  jsonDepthMax,
  jsonKeysMax,
  jsonNodesMax,
  JsonScanner,
  parseJsonText,
} from '../../../src/intake/json-scanner.ts';
import { Slab, textCostFactor } from '../../../src/http/bodies/slab.ts';
import { JsonText } from '../../../src/http/body.ts';
import { longDataUrlBytesMin } from '../../../src/http/images/data-url-file.ts';
import { MediaSplitter } from '../../../src/http/images/media-splitter.ts';
import { MultipartParser } from '../../../src/http/images/multipart-parser.ts';
import { openSpool } from '../../../src/http/images/spool.ts';
import { openImageWorkspaces, type ImageWorkspaces } from '../../../src/images/workspace.ts';

const endless = { reserve: () => undefined };
let root: string;
let workspaces: ImageWorkspaces;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bodies-test-'));
  workspaces = await openImageWorkspaces(Date.now, root);
});
afterAll(() => rm(root, { recursive: true, force: true }));

function* inPieces(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** The sizes of the pieces, some of them tiny. Each piece costs a wait, so there are only a few. */
const pieceSizes = fc
  .array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 4 })
  .map((sizes) => [...sizes, 2_000]);

describe('the JSON scanner', () => {
  const scanAll = (text: string, sizes: readonly number[] = [7]): void => {
    const scanner = new JsonScanner();
    for (const piece of inPieces(Buffer.from(text), sizes)) scanner.scan(piece);
  };
  const list = (items: number) => `[${Array.from({ length: items }, () => '1').join(',')}]`;

  it('accepts text that JSON.parse turns into small values, however it is split', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 8 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (text, sizes) => {
          expect(() => scanAll(text, sizes)).not.toThrow();
        },
      ),
    );
  });

  it.each([
    ['values', list(jsonNodesMax - 1), list(jsonNodesMax)],
    ['levels', '['.repeat(jsonDepthMax), '['.repeat(jsonDepthMax + 1)],
    ['keys', `{${'"a":1,'.repeat(jsonKeysMax)}`, `{${'"a":1,'.repeat(jsonKeysMax + 1)}`],
  ])('knows the limit of %s', (_name, fits, exceeds) => {
    expect(() => scanAll(fits, [11])).not.toThrow();
    expect(() => scanAll(exceeds, [11])).toThrow(/JSON must not/);
  });

  it('does not count the contents of strings, escaped quotes included', () => {
    const text = JSON.stringify({ a: `${'[{,:"\\'.repeat(30_000)}` });
    expect(() => scanAll(text, [1, 2, 3])).not.toThrow();
  });

  it('counts a JSON text in a string too', () => {
    expect(parseJsonText('{"a":[1]}')).toEqual({ a: [1] });
    expect(parseJsonText(list(jsonNodesMax))).toBeUndefined();
    expect(parseJsonText('{')).toBeUndefined();
  });
});

describe('long data URLs in JSON', () => {
  const jsonOf = async (text: string, sizes: readonly number[], filesMax = 16) => {
    const workspace = workspaces.open();
    const spool = openSpool(workspace, { filesMax, disk: endless });
    const rest = new JsonText(1024 * 1024, endless);
    const splitter = new MediaSplitter({ spool, onRest: (piece) => rest.push(piece) });
    try {
      for (const piece of inPieces(Buffer.from(text), sizes)) {
        splitter.push(piece);
        await spool.flush();
      }
    } finally {
      await spool.close();
    }
    const parsed = Object.entries(rest.parse(splitter.isWhole)).map(([name, value]: [string, unknown]) => {
      const fileOf = (item: unknown) => splitter.fileOf(item) ?? item;
      return [name, Array.isArray(value) ? value.map(fileOf) : fileOf(value)] as const;
    });
    return Object.fromEntries(parsed) as Record<string, any>;
  };
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

  it('become files with the same bytes, wherever pieces and escapes are split', async () => {
    const escapes: ((json: string) => string)[] = [
      (json) => json,
      (json) => json.replaceAll('/', '\\/'),
      (json) => json.replaceAll('+', '\\u002b').replaceAll('=', '\\u003D'),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: longDataUrlBytesMin, max: 60_000 }),
        pieceSizes,
        fc.constantFrom(...escapes),
        async (bytes, sizes, escape) => {
          const [one, two, three] = [randomBytes(bytes), randomBytes(bytes + 1), randomBytes(bytes + 2)];
          const body = {
            model: 'm',
            image: [dataUrl(one), 'https://x/a.png', dataUrl(two)],
            mask: dataUrl(three),
            n: 1,
          };
          const found = await jsonOf(escape(JSON.stringify(body)), sizes);
          expect(found).toMatchObject({ model: 'm', n: 1 });
          expect(found['image'][1]).toBe('https://x/a.png');
          const files = [found['image'][0], found['image'][2], found['mask']];
          const contents = await Promise.all(files.map(({ path }) => readFile(path)));
          expect(contents.map(digest)).toEqual([one, two, three].map(digest));
          expect(files.map((file) => file.bytes)).toEqual([bytes, bytes + 1, bytes + 2]);
        },
      ),
      { numRuns: 25, examples: escapes.map((escape) => [longDataUrlBytesMin, [1], escape]) },
    );
  });

  it('short ones, and long texts elsewhere, are not moved', async () => {
    const body = {
      image: dataUrl(randomBytes(100)),
      prompt: `data:image/png;base64,${'A'.repeat(40_000)}`,
      metadata: { image: dataUrl(randomBytes(20_000)), deeper: { mask: dataUrl(randomBytes(20_000)) } },
      list: [dataUrl(randomBytes(20_000))],
    };
    expect(await jsonOf(JSON.stringify(body), [5_000])).toEqual(body);
  });

  it.each([
    ['is not valid base64', `data:image/png;base64,${'#'.repeat(20_000)}`],
    ['is not valid base64', `data:image/png;base64,${'A'.repeat(20_001)}`],
    ['is not valid base64', `data:image/png;base64,${'A'.repeat(20_000)}=A`],
    ['is not valid base64', `data:image/png;base64,${'A'.repeat(20_000)}\\\\`],
    ['must be data:', `data:image/png,${'A'.repeat(20_000)}`],
  ])('%s', async (reason, url) => {
    const text = `{"image":["${url}"]}`;
    await expect(jsonOf(text, [4_096])).rejects.toThrow(`The parameter image[0] ${reason}`);
  });

  it('a fault has a position only in a text from which nothing was extracted', async () => {
    const long = dataUrl(randomBytes(longDataUrlBytesMin));
    const place = 'The body is not valid JSON at line 1, column 13.';
    await expect(jsonOf('{"prompt":1,}', [9])).rejects.toThrow(place);
    const cut = jsonOf(`{"image":"${long}",}`, [5_000]);
    await expect(cut).rejects.toThrow(/^The body is not valid JSON\.$/);
  });

  it('no more files than the limit', async () => {
    const image = Array.from({ length: 3 }, () => dataUrl(randomBytes(20_000)));
    await expect(jsonOf(JSON.stringify({ image }), [9_000], 2)).rejects.toThrow('at most 2 files');
  });

  it('a caller cannot name a file', async () => {
    const body = { image: 'file:00000000-0000-0000-0000-000000000000:0' };
    expect(await jsonOf(JSON.stringify(body), [9])).toEqual(body);
  });
});

describe('the multipart parser', () => {
  interface Part {
    readonly head: string;
    readonly content: Buffer;
  }
  const parse = (bytes: Buffer, sizes: readonly number[], boundary = 'x') => {
    const parts: { name: string; fileName?: string; content: Buffer; ended: boolean }[] = [];
    const parser = new MultipartParser(boundary, ({ name, fileName }) => {
      const part = {
        name,
        ...(fileName === undefined ? {} : { fileName }),
        content: Buffer.alloc(0),
        ended: false,
      };
      parts.push(part);
      return {
        write: (piece) => (part.content = Buffer.concat([part.content, piece])),
        end: () => (part.ended = true),
      };
    });
    for (const piece of inPieces(bytes, sizes)) parser.push(piece);
    parser.end();
    return parts;
  };
  const form = (parts: readonly Part[], boundary = 'x') =>
    Buffer.concat([
      ...parts.flatMap(({ head, content }) => [
        Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
        content,
        Buffer.from('\r\n'),
      ]),
      Buffer.from(`--${boundary}--\r\n`),
    ]);

  it('returns every part, however it is split', () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom('', '\r\n', '\r\n--', '--y', '\r', '\r\n-').map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(
        fc.array(content, { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
        (contents, sizes) => {
          const safe = contents.filter((bytes) => !bytes.includes('\r\n--boundary'));
          const parts = safe.map((bytes, n) => ({ head: `name="f${n}"`, content: bytes }));
          const found = parse(form(parts, 'boundary'), sizes, 'boundary');
          expect(
            found.map(({ name, content: bytes, ended }) => [name, bytes.toString('hex'), ended]),
          ).toEqual(parts.map(({ content: bytes }, n) => [`f${n}`, bytes.toString('hex'), true]));
        },
      ),
    );
  });

  it('names, file names, preamble, padding and epilogue', () => {
    const bytes = Buffer.from(
      'preamble\r\n--x \t\r\nContent-Type: image/png\r\nCONTENT-DISPOSITION: form-data; name="image[]"; filename="a b.png"\r\n\r\nA\r\n' +
        '--x\r\nContent-Disposition: form-data; filename=plain.png; name=b\r\n\r\n\r\n--x--\r\nepilogue --x',
    );
    for (const sizes of [[1], [3], [1_000]]) {
      expect(parse(bytes, sizes)).toMatchObject([
        { name: 'image[]', fileName: 'a b.png', content: Buffer.from('A') },
        { name: 'b', fileName: 'plain.png', content: Buffer.alloc(0) },
      ]);
    }
  });

  it.each([
    ['', /malformed/],
    ['hello', /malformed/],
    ['--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nabc', /malformed/],
    ['--x\r\nContent-Disposition: form-data\r\n\r\nabc\r\n--x--', /malformed/],
    ['--x\r\nContent-Disposition: attachment; name="a"\r\n\r\nabc\r\n--x--', /malformed/],
    ['--x\r\n\r\nabc\r\n--x--', /malformed/],
    ['--xy\r\nContent-Disposition: form-data; name="a"\r\n\r\nabc\r\n--x--', /malformed/],
    [`--x\r\nContent-Disposition: ${'a'.repeat(10_000)}`, /^Part headers/],
  ])('%j is refused', (text, reason) => {
    for (const sizes of [[1], [20_000]]) expect(() => parse(Buffer.from(text), sizes)).toThrow(reason);
  });
});

describe('the budget of bodies', () => {
  const budgetOf = (bytesMax: number, accountBytesMax: number) =>
    createBodyBudget({ name: 'bodies of json', bytesMax, accountBytesMax });

  it('refuses one account before it refuses all, and is fully available after every release', () => {
    const budget = budgetOf(100, 60);
    const [a, b, c] = [budget.open('a'), budget.open('a'), budget.open('c')];
    a.reserve(50);
    expect(() => b.reserve(11)).toThrow(
      expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterSeconds: 2 }),
    );
    b.reserve(10);
    expect(() => c.reserve(41)).toThrow(
      expect.objectContaining({ code: 'service_unavailable', retryAfterSeconds: 2 }),
    );
    c.reserve(40);
    expect(budget.reservedBytes).toBe(100);
    for (const allowance of [a, b, c, a]) allowance.release();
    expect(budget.reservedBytes).toBe(0);
    budget.open('a').reserve(60);
    expect(budget.reservedBytes).toBe(60);
  });

  it('cuts off the largest body of the account with the most bytes, not the newcomer', () => {
    const budget = budgetOf(100, 80);
    const cut: string[] = [];
    const reading = (account: string, name: string, bytes: number) => {
      const allowance = budget.open(account);
      allowance.whileRead((reason) => cut.push(`${name} ${reason.code}`));
      allowance.reserve(bytes);
      return allowance;
    };
    const small = reading('greedy', 'small', 20);
    const large = reading('greedy', 'large', 50);
    reading('other', 'other', 25);
    reading('newcomer', 'newcomer', 30);
    expect(cut).toEqual(['large service_unavailable']);
    expect(budget.reservedBytes).toBe(75);
    large.reserve(1_000);
    large.release();
    small.release();
    expect(budget.reservedBytes).toBe(55);
  });

  it('cuts off no complete body, and no account with less than the newcomer', () => {
    const budget = budgetOf(100, 90);
    const cut: string[] = [];
    const complete = budget.open('a');
    complete.whileRead(() => cut.push('a'));
    complete.reserve(60);
    complete.keep();
    const little = budget.open('b');
    little.whileRead(() => cut.push('b'));
    little.reserve(20);
    expect(() => budget.open('c').reserve(30)).toThrow(/Too many large requests/);
    expect(cut).toEqual([]);
  });

  it('reports whether there is room without reserving or cutting anything', () => {
    const budget = budgetOf(100, 60);
    const cut: string[] = [];
    const [a, b] = [budget.open('a'), budget.open('b')];
    a.whileRead(() => cut.push('a'));
    a.reserve(50);
    expect(() => a.requireRoom(11)).toThrow(/request bodies of one account/);
    b.reserve(40);
    expect(() => b.requireRoom(20)).toThrow(/Too many large requests/);
    budget.open('c').requireRoom(30);
    a.keep();
    expect(() => budget.open('c').requireRoom(30)).toThrow(/Too many large requests/);
    expect([budget.reservedBytes, cut]).toEqual([90, []]);
  });
});

describe('a slab', () => {
  it('holds the pushed bytes, and reserves their cost up to its limit', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 20 }), (pieces) => {
        let reserved = 0;
        const slab = new Slab({ reserve: (bytes) => (reserved += bytes) }, 60_000);
        for (const piece of pieces) slab.push(piece);
        const bytes = Buffer.concat(pieces);
        expect(slab.read().equals(bytes)).toBe(true);
        expect(reserved).toBeGreaterThanOrEqual(bytes.length * textCostFactor);
        expect(reserved).toBeLessThanOrEqual(60_000 * textCostFactor);
      }),
    );
  });
});
