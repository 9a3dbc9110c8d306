import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { rawEnvironment } from '../../src/config/environment.ts';
import { LocalServerError } from '../../src/local/servers/local-options.ts';
import { startChild, waitUntilServing, type ChildServer } from '../../src/local/servers/process.ts';
import { runCommand } from '../../src/local/servers/run-command.ts';
import { readCompose, repositoryPath, secondsOf, withValues } from '../../test/deploy/compose-file.ts';
import type { ComposeService } from '../../test/deploy/compose-file.ts';

const healthyWithinMs = 300_000;
const checkEveryMs = 1_000;
const checkTimeoutMs = 30_000;
const onceTimeoutMs = 600_000;

const { services } = readCompose();
const names = Object.keys(services);

export interface Surroundings {
  readonly directory: string;
  readonly variables: ReadonlyMap<string, string>;
  readonly keys: Readonly<Record<string, string>>;
  readonly path: readonly string[];
  /**
   * Overrides values in docker-compose.yml. This is necessary for the stand-ins, and for values that an override file
   * would set.
   */
  readonly overrides: (service: string) => Readonly<Record<string, string>>;
}

export interface ComposeProcess {
  readonly name: string;
  /** An IP address in 127.20.0.0/16. Every service has its own, so that all of them can keep the ports in the file. */
  readonly address: string;
  readonly environment: Readonly<Record<string, string>>;
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
  run(command: string, args: readonly string[]): Promise<string>;
}

export interface Started {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Deviations {
  /** The number of the container, counting from 0. Undefined if the service has only one. */
  readonly replica?: number;
  readonly program?: Started;
  readonly check?: readonly string[];
}

/** If the service has several containers, `replica` is the number of one of them, counting from 0. */
export function addressOf(service: string, replica = 0): string {
  return `127.20.${replica}.${names.indexOf(service) + 2}`;
}

export function composeService(name: string): ComposeService {
  const found = services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

export function composeProcess(
  { directory, variables, keys, path, overrides }: Surroundings,
  name: string,
  { replica = 0, program, check }: Deviations = {},
): ComposeProcess {
  const service = composeService(name);
  const address = addressOf(name, replica);
  const here = (value: string) =>
    localized(withValues(value, variables), { address, directory, volumes: service.volumes });
  const environment = {
    PATH: [...path, rawEnvironment()['PATH']].join(':'),
    HOME: directory,
    ...(service.env_file.length === 0 ? {} : keys),
    ...Object.fromEntries(
      Object.entries(service.environment).map(([key, value]) => [key, hostName(key, here(value))]),
    ),
    ...overrides(name),
  };
  const id = `${name}-${replica + 1}`;
  const run = async (command: string, args: readonly string[]): Promise<string> => {
    const result = await runCommand([command, ...args.map(here)], { environment }, onceTimeoutMs);
    if (!result.ok) throw new LocalServerError(`${id}: ${command} ${args.join(' ')}:\n${result.output}`);
    return result.output;
  };
  let stopChild: ((signal: NodeJS.Signals) => Promise<void>) | undefined;
  return {
    name: id,
    address,
    environment,
    run,
    async start() {
      const { command, args } = program ?? { command: process.execPath, args: [] };
      const child = await startChild({
        dataDir: directory,
        report: () => undefined,
        name: id,
        command,
        args: args.map(here),
        environment,
      });
      const seconds = secondsOf(withValues(service.stop_grace_period ?? '10s', variables));
      stopChild = (signal) => stopWithin(child, signal, seconds);
      const ofFile = service.healthcheck?.test.slice(1) ?? [];
      await waitUntilServing(
        child,
        () => requireHealth(check ?? ofFile.map(here), environment),
        healthyWithinMs,
      );
    },
    async stop(signal = 'SIGTERM') {
      const stopping = stopChild;
      stopChild = undefined;
      await stopping?.(signal);
    },
  };
}

async function stopWithin(child: ChildServer, signal: NodeJS.Signals, seconds: number): Promise<void> {
  const { name, pid, exited, logFile } = child;
  if (child.hasExited()) throw new LocalServerError(`${name} ${await exited}; see ${logFile}`);
  process.kill(pid, signal);
  const inTime = await Promise.race([exited, delay(seconds * 1000, undefined, { ref: false })]);
  if (inTime !== undefined) return;
  await child.kill();
  throw new LocalServerError(`${name} did not end within its stop_grace_period of ${seconds} s`);
}

async function requireHealth(command: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const { ok, output } = await runCommand(command, { environment }, checkTimeoutMs);
  if (ok) return;
  await delay(checkEveryMs);
  throw new LocalServerError(`its check failed: ${output}`);
}

type Volumes = ComposeService['volumes'];

/** Replaces the container's own address, the names of other services, and mounts with local equivalents. */
function localized(
  value: string,
  here: { readonly address: string; readonly directory: string; readonly volumes: Volumes },
): string {
  const own = value.replaceAll(/\b(?:0\.0\.0\.0|127\.0\.0\.1)\b/g, here.address);
  const others = names.reduce(
    (text, name) => text.replaceAll(new RegExp(`(?<![\\w-])${name}(?=:\\d)`, 'g'), addressOf(name)),
    own,
  );
  return mountsOf(here.volumes, here.directory).reduce(
    (text, [target, source]) => (text.startsWith(target) ? source + text.slice(target.length) : text),
    others,
  );
}

function hostName(key: string, value: string): string {
  return /_(?:HOST|SEEDS)$/.test(key) && names.includes(value) ? addressOf(value) : value;
}

function mountsOf(volumes: Volumes, directory: string): (readonly [target: string, source: string])[] {
  return volumes.flatMap((volume) => {
    const [source, target] =
      typeof volume === 'string' ? volume.split(':') : [volume.source, String(volume['target'])];
    if (source === undefined || target === undefined) return [];
    const isInRepository = source.startsWith('./deploy/');
    return [[target, isInRepository ? repositoryPath(source) : join(directory, source)] as const];
  });
}
