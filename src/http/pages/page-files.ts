import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { etagOf } from '../etag.ts';
import { fillIn, guideMenu, guideNames, readGuides } from './guides.ts';
import { joinModules } from './join-modules.ts';

export interface PageFile {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly mediaType: string;
  readonly etags: { readonly identity: string; readonly gzip: string };
}

export interface PageFiles {
  /** Part of the URL of every file except pages. Changes with the content of any file. */
  readonly version: string;
  /** @param name - `<folder>/<file>`. */
  find(name: string): PageFile | undefined;
  readonly names: readonly string[];
  fill(name: string, parts: Readonly<Record<string, string>>): PageFile;
}

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const packageFiles: Readonly<Record<string, readonly [name: string, path: string]>> = {
  'vendor/preact.js': ['preact', 'dist/preact.mjs'],
  'vendor/hooks.js': ['preact', 'hooks/dist/hooks.mjs'],
  'vendor/htm.js': ['htm', 'dist/htm.module.js'],
};

const isInFolder = (name: string): boolean => guideNames.some((guide) => name === `docs/${guide}.html`);

/**
 * Files come from src/pages/<folder>/ and from packages, and are read once per process. Pages refer to them as
 * `{{base}}/<folder>/<file>`, and modules import each other by relative paths. URLs never begin with a slash, because a
 * proxy may serve the gateway under a path.
 */
export function readPageFiles(): PageFiles {
  pageFiles ??= readAll();
  return pageFiles;
}

let pageFiles: PageFiles | undefined;

function readAll(): PageFiles {
  const texts = joined(new Map([...ownTexts(), ...packageTexts()]));
  for (const [name, text] of readGuides(texts.get('docs/guide.html') ?? '')) texts.set(name, text);
  const welcome = texts.get('docs/welcome.html') ?? '';
  texts.set('docs/welcome-without-console.html', welcome.replace(consoleEntry, ''));
  for (const [name, text] of countIcons(texts.get('console/icon.svg') ?? '')) texts.set(name, text);
  const hash = createHash('sha256');
  for (const [name, text] of texts) hash.update(`${name}\0${text}\0`);
  const version = hash.digest('base64url').slice(0, 12);
  const files = new Map<string, PageFile>();
  const make = (name: string, text: string, parts: Readonly<Record<string, string>> = {}): PageFile => {
    const base = `${isInFolder(name) ? '../' : ''}pages/${version}`;
    return encode(name, fillIn(text, { base, guides: guideMenu(), ...parts }));
  };
  return {
    version,
    names: [...texts.keys()],
    find(name) {
      const text = texts.get(name);
      if (text === undefined) return undefined;
      const known = files.get(name);
      if (known !== undefined) return known;
      const made = make(name, text);
      files.set(name, made);
      return made;
    },
    fill: (name, parts) => make(name, texts.get(name) ?? '', parts),
  };
}

const consoleEntry = /<!-- console -->[^]*<!-- end -->\s*/;

function countIcons(icon: string): [string, string][] {
  return ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'more'].map((count) => {
    const mark = `<circle cx="21" cy="11" r="11" fill="#c4321c"/><text x="21" y="17" font-family="sans-serif" font-size="17" font-weight="700" text-anchor="middle" fill="#fff">${count === 'more' ? '+' : count}</text>`;
    return [`console/icon-${count}.svg`, icon.replace('</svg>', `${mark}</svg>`)];
  });
}

const joinedFiles = {
  shared: 'shared/all.js',
  console: 'console/main.js',
  account: 'account/main.js',
  docs: 'docs/main.js',
} as const;
/** Stays a separate file, because it imports packages. */
const kit = 'shared/preact.js';

function joined(texts: ReadonlyMap<string, string>): Map<string, string> {
  const served = new Map(texts);
  const partsOf = (folder: string) =>
    [...texts.keys()].filter((name) => name.startsWith(`${folder}/`) && name.endsWith('.js') && name !== kit);
  const servedAs = (module: string) =>
    Object.entries(joinedFiles).find(([folder]) => partsOf(folder).includes(module))?.[1] ?? module;
  for (const [folder, file] of Object.entries(joinedFiles)) {
    const text = joinModules(partsOf(folder), { texts, apart: new Set([kit]), servedAs });
    for (const name of partsOf(folder)) served.delete(name);
    served.set(file, text);
  }
  return served;
}

const sharedWithServer: Readonly<Record<string, string>> = {
  'shared/code.js': '../../base/request-code.js',
  'shared/pointer.js': '../../base/json-pointer.js',
  'shared/roles.js': '../../base/role-meanings.js',
};

function ownTexts(): [string, string][] {
  const root = fileURLToPath(new URL('../../pages/', import.meta.url));
  const borrowed = Object.entries(sharedWithServer).map(([name, path]): [string, string] => [
    name,
    readFileSync(new URL(path, import.meta.url), 'utf8'),
  ]);
  const own = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /^[\w-]+\/[\w.-]+$/.test(path) && extensionOf(path) in mediaTypes)
    .toSorted()
    .map((path): [string, string] => [path, readFileSync(join(root, path), 'utf8')]);
  return [...own, ...borrowed];
}

function packageTexts(): [string, string][] {
  const require = createRequire(import.meta.url);
  return Object.entries(packageFiles).map(([name, [from, path]]) => {
    const root = packageRoot(require.resolve(from), from);
    // Browsers cannot resolve package names, so imports between packages are made relative.
    const text = readFileSync(join(root, path), 'utf8').replaceAll('from"preact"', 'from"./preact.js"');
    return [name, text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')];
  });
}

function packageRoot(file: string, name: string): string {
  const directory = dirname(file);
  return directory.endsWith(`/node_modules/${name}`) ? directory : packageRoot(directory, name);
}

function encode(name: string, text: string): PageFile {
  const bytes = Buffer.from(text);
  const identity = etagOf(text);
  return {
    bytes,
    gzipped: gzipSync(bytes, { level: 9 }),
    mediaType: mediaTypes[extensionOf(name)] ?? 'application/octet-stream',
    etags: { identity, gzip: `${identity.slice(0, -1)}-gzip"` },
  };
}

function extensionOf(name: string): string {
  return /\.(\w+)$/.exec(name)?.[1] ?? '';
}
