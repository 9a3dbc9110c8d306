import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Library from 'openai';
import { cacheDir } from '../bench/support/stand.ts';

export const newestOpenaiVersion = '7.55.0';
export const newestOpenaiNeeds = 22;

/**
 * The newest `openai`, which asks for a newer Node than the gateway does: it is installed beside, once, where this Node is new
 * enough. Undefined: it is not. Throws where npm cannot install it.
 */
export async function newestOpenai(): Promise<typeof Library | undefined> {
  if (Number(process.versions.node.split('.')[0]) < newestOpenaiNeeds) return undefined;
  const folder = join(cacheDir, `openai-${newestOpenaiVersion}`);
  const complete = join(folder, 'complete');
  if (!existsSync(complete)) {
    mkdirSync(folder, { recursive: true });
    // Without one of its own, npm would install into the project above.
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const install = ['install', '--ignore-scripts', '--no-audit', `openai@${newestOpenaiVersion}`];
    execFileSync('npm', install, { cwd: folder, stdio: 'inherit' });
    writeFileSync(complete, '');
  }
  const entry = join(folder, 'node_modules', 'openai', 'index.mjs');
  const library: unknown = await import(pathToFileURL(entry).href);
  if (!isLibrary(library)) throw new TypeError(`${entry} is not the client`);
  return library;
}

function isLibrary(value: unknown): value is typeof Library {
  return typeof value === 'object' && value !== null && 'OpenAI' in value && 'default' in value;
}
