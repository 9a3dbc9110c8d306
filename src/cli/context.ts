import type { Command } from 'commander';
import type { Environment } from '../config/environment.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import type { VerifyResult } from '../ledger/verify.ts';
import type { RebuildReport } from './rebuild-projection.ts';
import { createAdminClient } from './admin-client.ts';
import type { AdminClient } from './admin-client.ts';
import { createOutput } from './output.ts';
import type { Output } from './output.ts';
import { resolveTarget } from './target.ts';

/** What the verbs stand on; built by src/cli.ts. */
export interface CliContext {
  readonly print: (text: string) => void;
  readonly environment: () => Environment;
  /** Who works at this terminal: kept in the record of every action. */
  readonly operator: string;
  /** Reads GATEWAY_CONFIG; throws ConfigError with every violation. */
  readonly loadConfig: () => GatewayConfig;
  /** Reads the whole ledger, on MongoDB and Temporal directly. */
  readonly verifyLedger: (onProgress: (line: string) => void) => Promise<VerifyResult>;
  readonly rebuildProjection: () => Promise<RebuildReport>;
  /** Sets the status with which the process ends. */
  readonly fail: (status: number) => void;
}

export interface Session {
  readonly client: AdminClient;
  readonly output: Output;
}

/** Options of the whole program, wherever on the line they stand. */
export function addCommonOptions(program: Command): void {
  program
    .option(
      '--url <url>',
      'the gateway to call (default: PUBLIC_URL, else local mode’s, else http://HOST:PORT)',
    )
    .option('--json', 'print what the gateway answered, as JSON');
}

/** Reads the common options of a command that runs. */
export async function openSession(command: Command, context: CliContext): Promise<Session> {
  const options: { url?: unknown } = command.optsWithGlobals();
  const url = typeof options.url === 'string' ? options.url : undefined;
  const target = await resolveTarget(context.environment(), url);
  return { client: createAdminClient(target, context.operator), output: outputOf(command, context) };
}

export function outputOf(command: Command, { print }: Pick<CliContext, 'print'>): Output {
  const options: { json?: unknown } = command.optsWithGlobals();
  return createOutput(options.json === true, print);
}

/** Of a list in pages: how to see the rest. */
export function noteMore(output: Output, hasMore: boolean, after: unknown): void {
  if (hasMore) output.note(`There are more: --after ${String(after)}`);
}
