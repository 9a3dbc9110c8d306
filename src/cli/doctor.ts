import type { Command } from 'commander';
import { z } from 'zod';
import { messageOf } from '../base/caught.ts';
import { readReadiness } from './admin-client.ts';
import { outputOf, type Check, type CliContext } from './context.ts';
import { exitStatuses } from './program.js';
import { gatewayUrl } from './target.ts';

const readySchema = z.object({ warnings: z.array(z.object({ message: z.string() })) });
const refusedSchema = z.object({ error: z.object({ message: z.string() }) });

export function addDoctorCommand(doctor: Command, context: CliContext): void {
  doctor
    .description(
      'Checks the environment, configuration file, MongoDB, Temporal and result storage that a process started here would use, and the API if it is running. Changes nothing, except that it writes a test file to the storage and deletes it. Exits with status 1 if something is wrong.',
    )
    .action(async (_options: object, command: Command) => {
      const { url }: { url?: string } = command.optsWithGlobals();
      const checks = [...(await context.diagnose()), await checkApi(context, url)];
      const isOk = checks.every(({ state }) => state !== 'failed');
      outputOf(command, context).result({ ok: isOk, checks }, checks.map(lineOf).join('\n'));
      if (!isOk) context.fail(exitStatuses.failed.status);
    });
}

const words: Readonly<Record<Check['state'], string>> = {
  ok: 'ok',
  warning: 'warning',
  failed: 'failed',
  not_checked: 'not checked',
};
const stateWidth = 13;
const subjectWidth = 16;

function lineOf({ subject, state, text }: Check): string {
  return `${words[state].padEnd(stateWidth)}${subject.padEnd(subjectWidth)}${text}`;
}

async function checkApi(context: CliContext, named: string | undefined): Promise<Check> {
  const subject = 'API';
  try {
    const url = await gatewayUrl(await context.environment(), named);
    const { status, body } = await readReadiness(url);
    const ready = readySchema.safeParse(body);
    if (status === 200 && ready.success) {
      const warnings = ready.data.warnings.map(({ message }) => message);
      const text = [`${url} is ready.`, ...warnings].join(' ');
      return { subject, state: warnings.length === 0 ? 'ok' : 'warning', text };
    }
    const why = refusedSchema.safeParse(body).data?.error.message;
    return { subject, state: 'failed', text: why ?? `${url} responds with ${status}: it is not a gateway.` };
  } catch (error) {
    return { subject, state: 'not_checked', text: messageOf(error) };
  }
}
