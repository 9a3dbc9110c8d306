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

/** What the verbs need; built by src/cli.ts. */
export interface CliContext {
  readonly print: (text: string) => void;
  /** What is printed is for a terminal, and for one that shows colours. */
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly environment: () => Environment | Promise<Environment>;
  /** Reads the file that a start here would use; throws ConfigError with every violation. */
  readonly loadConfig: () => LoadedConfig | Promise<LoadedConfig>;
  /** By their names in gateway.yaml. */
  readonly loadProviders: () => Promise<Readonly<Record<string, Provider>>>;
  /** Seals everything with the first key of SECRETS_KEY, on MongoDB directly. */
  readonly rotateSecrets: (options: RotateOptions) => Promise<RotationReport>;
  /** Lets money be dated by what the database says now, on MongoDB directly. */
  readonly acceptClock: (reason: string) => Promise<AcceptedClock>;
  /** Absent: nobody watches. */
  readonly terminal?: Terminal;
  /** Sets the status with which the process ends. */
  readonly fail: (status: number) => void;
}

export interface RotateOptions {
  readonly reason: string;
  readonly onProgress: (line: string) => void;
}

/** Unix milliseconds. `jump` absent: no process contradicts the time, and nothing was done. */
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
 * The action of a verb that calls the operators' API. `run` receives what commander parsed: the arguments, then the
 * options.
 */
export function adminCommand<Parsed extends unknown[]>(
  context: CliContext,
  run: (session: Session, ...parsed: Parsed) => Promise<void>,
): (this: Command, ...parsed: Parsed) => Promise<void> {
  return async function action(this: Command, ...parsed: Parsed): Promise<void> {
    if (isWatched(this)) throw new CommandError('usage', '--watch is for what lists or shows something.');
    await run(await openSession(this, context), ...parsed);
  };
}

/** As `adminCommand`, of a verb that changes nothing: it can be watched. */
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
 * Reads the common options of a command that runs. What makes the calls is loaded only now: `--help` needs none of it.
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

/** Says how to see the rest of a list in pages. */
export function noteMore(output: Output, hasMore: boolean, after: unknown): void {
  if (hasMore) output.note(`More results: --after ${String(after)}`);
}
