import type { Command } from 'commander';
import type { RotationReport } from '../access/rotate-secrets.ts';
import type { Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { Provider } from '../providers/provider.ts';
import type { AdminClient } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { createOutput } from './output.ts';
import type { Terminal } from './terminal.ts';
import type { Output, OutputForm } from './output.ts';

/** The commands' dependencies, created in src/cli.ts. */
export interface CliContext {
  readonly print: (text: string) => void;
  /** Whether the output is a terminal. */
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly environment: () => Environment | Promise<Environment>;
  /** Reads the file that a start on this machine would use. Throws ConfigError with every violation. */
  readonly loadConfig: () => LoadedConfig | Promise<LoadedConfig>;
  /** Loads the built-in adapters, keyed by their names in gateway.yaml. */
  readonly loadProviders: () => Promise<Readonly<Record<string, Provider>>>;
  /** Reseals everything with the first key in SECRETS_KEY. Works directly on MongoDB. */
  readonly rotateSecrets: (options: RotateOptions) => Promise<RotationReport>;
  /** Accepts the database's current time for dating money. Works directly on MongoDB. */
  readonly acceptClock: (reason: string) => Promise<AcceptedClock>;
  /** Undefined when output is not interactive. */
  readonly terminal?: Terminal;
  /** Sets the exit status. */
  readonly fail: (status: number) => void;
}

export interface RotateOptions {
  readonly reason: string;
  readonly onProgress: (line: string) => void;
}

/** Times are in Unix milliseconds. If no process disputed the time, `jump` is undefined and nothing was done. */
export interface AcceptedClock {
  readonly at: number;
  readonly jump?: { readonly expected: number; readonly seen: number };
}

export interface LoadedConfig {
  readonly file: string;
  readonly config: GatewayConfig;
}

export interface Session {
  readonly client: AdminClient;
  readonly output: Output;
}

/**
 * Returns the handler of a command that calls the operators' API. `run` receives what commander parsed: first the
 * arguments, then the options.
 */
export function adminCommand<Parsed extends unknown[]>(
  context: CliContext,
  run: (session: Session, ...parsed: Parsed) => Promise<void>,
): (this: Command, ...parsed: Parsed) => Promise<void> {
  return async function action(this: Command, ...parsed: Parsed): Promise<void> {
    if (isWatched(this))
      throw new CommandError('usage', '--watch works only with commands that list or show something.');
    await run(await openSession(this, context), ...parsed);
  };
}

/** Like `adminCommand`, but for read-only commands. Also supports `--watch`. */
export function lookCommand<Parsed extends unknown[]>(
  context: CliContext,
  run: (session: Session, ...parsed: Parsed) => Promise<void>,
): (this: Command, ...parsed: Parsed) => Promise<void> {
  return async function action(this: Command, ...parsed: Parsed): Promise<void> {
    const look = async (print: CliContext['print']): Promise<void> =>
      run(await openSession(this, { ...context, print }), ...parsed);
    if (!isWatched(this)) return look(context.print);
    const { watch } = await import('./watch.ts');
    return watch({ look, print: context.print, isTerminal: context.isTerminal });
  };
}

function isWatched(command: Command): boolean {
  return command.optsWithGlobals()['watch'] === true;
}

/**
 * Reads a running command's common options. The modules for API calls are loaded only here, because `--help` does not
 * need them.
 */
async function openSession(command: Command, context: CliContext): Promise<Session> {
  const [{ createAdminClient }, { resolveTarget }] = await Promise.all([
    import('./admin-client.ts'),
    import('./target.ts'),
  ]);
  const options: { url?: unknown } = command.optsWithGlobals();
  const url = typeof options.url === 'string' ? options.url : undefined;
  const target = await resolveTarget(await context.environment(), url);
  return { client: createAdminClient(target), output: outputOf(command, context) };
}

export function outputOf(command: Command, { print, isColoured, now }: CliContext): Output {
  const { output: form }: { output?: OutputForm } = command.optsWithGlobals();
  return createOutput({ form: form ?? 'table', write: print, isColoured, now: now() });
}

/** Explains how to get the next page of the list. */
export function noteMore(output: Output, hasMore: boolean, after: unknown): void {
  if (hasMore) output.note(`More results: --after ${String(after)}`);
}
