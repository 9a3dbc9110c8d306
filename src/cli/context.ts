import type { Command } from 'commander';
import type { RotationReport } from '../access/rotate-secrets.ts';
import type { Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { Provider } from '../providers/provider.ts';
import type { AdminClient } from './admin-client.ts';
import { CommandError } from './command-error.ts';
import { createOutput, type Output, type OutputForm } from './output.ts';
import type { Terminal } from './terminal.ts';

export interface CliContext {
  readonly print: (text: string) => void;
  /** Writes to standard error. */
  readonly warn: (text: string) => void;
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
  readonly now: () => number;
  readonly environment: () => Environment | Promise<Environment>;
  /** Loads the file that a gateway started on this machine would use. Throws ConfigError with all violations. */
  readonly loadConfig: () => LoadedConfig | Promise<LoadedConfig>;
  readonly loadProviders: () => Promise<Readonly<Record<string, Provider>>>;
  /** Writes directly to MongoDB, without going through the API. */
  readonly rotateSecrets: (options: RotateOptions) => Promise<RotationReport>;
  /** Writes directly to MongoDB, without going through the API. */
  readonly acceptClock: (reason: string) => Promise<AcceptedClock>;
  /** Checks what a gateway started on this machine would use. Never rejects. */
  readonly diagnose: () => Promise<readonly Check[]>;
  readonly terminal?: Terminal;
  readonly fail: (status: number) => void;
}

export interface Check {
  readonly subject: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not_checked';
  readonly text: string;
}

export interface RotateOptions {
  readonly reason: string;
  readonly onProgress: (line: string) => void;
}

/** Times are in Unix milliseconds. `jump` is undefined if no process had reported a jump, so nothing was accepted. */
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

/** `run` receives commander's arguments, followed by the options. */
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

/** Like `adminCommand`, but supports `--watch`. */
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

/** Imports the modules for API calls only here, because `--help` does not need them. */
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

export function outputOf(command: Command, { print, warn, isColoured, now }: CliContext): Output {
  const { output: form }: { output?: OutputForm } = command.optsWithGlobals();
  return createOutput({ form: form ?? 'table', write: print, warn, isColoured, now: now() });
}

export function noteMore(output: Output, hasMore: boolean, after: unknown): void {
  if (hasMore) output.more(`--after ${String(after)}`);
}
