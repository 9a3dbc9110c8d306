import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { cacheDir } from './cache-dir.ts';

const run = promisify(execFile);
const fetchMsMax = 120_000;

/**
 * Looks for promtool on PATH. If it is not there, downloads Debian's `prometheus` package once. Undefined if that fails
 * too.
 */
export async function findPromtool(): Promise<string | undefined> {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'promtool'));
  const kept = join(cacheDir, 'bin', 'promtool');
  const found = [...onPath, kept].find((path) => existsSync(path));
  if (found !== undefined) return found;
  const work = await mkdtemp(join(tmpdir(), 'mediary-promtool-'));
  try {
    await fetchTo(kept, work);
    return kept;
  } catch (error) {
    process.stderr.write(`promtool could not be had: ${String(error)}\n`);
    return undefined;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

export function untriedWithout(promtool: string | undefined): string {
  return promtool === undefined
    ? ' (not tried: there is no promtool, and Debian’s package prometheus cannot be fetched)'
    : '';
}

/** Uses its own package lists and its own cache, so that it needs no privileges and leaves the machine unchanged. */
async function fetchTo(kept: string, work: string): Promise<void> {
  const [lists, cache] = [join(work, 'lists'), join(work, 'cache')];
  await Promise.all([mkdir(join(lists, 'partial'), { recursive: true }), mkdir(cache)]);
  const own = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${cache}`, '-o', 'Debug::NoLocking=1'];
  const options = { cwd: work, timeout: fetchMsMax };
  await run('apt-get', [...own, 'update'], options);
  await run('apt-get', [...own, 'download', 'prometheus'], options);
  const archive = (await readdir(work)).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get downloaded no package');
  await run('dpkg-deb', ['--extract', archive, 'unpacked'], options);
  await mkdir(join(kept, '..'), { recursive: true });
  // Another test may be downloading the same file. Renaming then replaces it with an identical one.
  const mine = `${kept}.${process.pid}`;
  await cp(join(work, 'unpacked/usr/bin/promtool'), mine);
  await chmod(mine, 0o755);
  await rename(mine, kept);
}

export interface Verdict {
  readonly passed: boolean;
  readonly output: string;
}

export async function runPromtool(
  promtool: string,
  args: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<Verdict> {
  const cwd = await mkdtemp(join(tmpdir(), 'mediary-rules-'));
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content);
    const { stdout, stderr } = await run(promtool, [...args], { cwd, timeout: fetchMsMax });
    return { passed: true, output: stdout + stderr };
  } catch (error) {
    const { stdout = '', stderr = String(error) } = error as { stdout?: string; stderr?: string };
    return { passed: false, output: stdout + stderr };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}
