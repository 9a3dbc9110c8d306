import { createHash } from 'node:crypto';
import { readFile, readdir, rename } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { LocalServerError, type LocalOptions } from './local-options.ts';
import { exists, inTemporaryDirectory } from './program-files.ts';
import { runCommand } from './run-command.ts';

const launcherSources = fileURLToPath(new URL('../../../workshop/mongo-standin/', import.meta.url));
const compileTimeoutMs = 600_000;

/**
 * Returns the class path: the compiled launcher and the jars. The classes are kept in
 * DIRECTORY/mongo-java-server/classes-HASH, which saves two seconds on later starts.
 */
export async function compileLauncher(
  program: { java: string; jars: string },
  directory: string,
  options: LocalOptions,
): Promise<string> {
  const jars = (await readdir(program.jars)).map((name) => join(program.jars, name));
  const names = (await readdir(launcherSources)).filter((name) => name.endsWith('.java'));
  const files = names.toSorted().map((name) => join(launcherSources, name));
  const hash = createHash('sha256');
  for (const source of await Promise.all(files.map((file) => readFile(file)))) {
    hash.update(source);
  }
  const parent = join(directory, 'mongo-java-server');
  const classes = join(parent, `classes-${hash.digest('hex').slice(0, 12)}`);
  const classPath = [classes, ...jars].join(delimiter);
  if (await exists(classes)) {
    return classPath;
  }
  options.report('Compiling the MongoDB stand-in …');
  await inTemporaryDirectory(parent, async (staged) => {
    // Run the compiler as a module, because a `java` may come without a `javac`.
    const compiler = ['-m', 'jdk.compiler/com.sun.tools.javac.Main', '-nowarn', '-proc:none'];
    const command = [program.java, ...compiler, '-d', staged, '-cp', jars.join(delimiter), ...files];
    const result = await runCommand(command, options, compileTimeoutMs);
    if (!result.ok) throw new LocalServerError(`The MongoDB stand-in does not compile:\n${result.output}`);
    // Another process may have written the same classes in the meantime.
    await rename(staged, classes).catch(() => undefined);
  });
  return classPath;
}
