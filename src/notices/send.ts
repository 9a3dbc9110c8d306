import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { webhookHeaders } from '../access/webhook-signature.ts';
import type { NotifyConfig } from '../config/gateway-file.ts';
import { messageOf } from '../base/caught.ts';
import { defined } from '../base/defined.ts';
import type { Notice } from '../base/notice.ts';
import type { GuardedClient } from '../http-client/index.ts';

export type Target = NotifyConfig['targets'][number];

/**
 * Resolves to the reason why the target did not accept the notice, or to undefined if it did. Never rejects, and
 * settles within `answerWithinMs`.
 */
export type SendNotice = (target: Target, notice: Notice) => Promise<string | undefined>;

const answerWithinMs = 10_000;

export interface SendDeps {
  readonly deliver: GuardedClient['deliver'];
  readonly commandEnvironment: NodeJS.ProcessEnv;
  readonly now: () => number;
}

export function createSendNotice({ deliver, commandEnvironment, now }: SendDeps): SendNotice {
  return async (target, notice) => {
    try {
      if (target.command !== undefined)
        return await run(target.command, noticeText(notice), commandEnvironment);
      const { status } = await post(target, notice);
      return status >= 200 && status < 300 ? undefined : `the endpoint responded with ${status}`;
    } catch (error) {
      return messageOf(error);
    }
  };

  function post({ url = '', secret, format }: Target, notice: Notice) {
    const isText = format === 'text';
    const body = isText ? noticeText(notice) : JSON.stringify(noticeEvent(notice));
    const id = `${notice.id}/${notice.revision}`;
    const secrets = secret === undefined ? [] : [secret];
    const headers = {
      'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
      'user-agent': 'mediary-notice/1',
      ...(secret === undefined ? { 'webhook-id': id } : webhookHeaders({ id, at: now(), body, secrets })),
    };
    return deliver({ url, headers, body, timeoutMs: answerWithinMs });
  }
}

/** Uses no shell, so the arguments need no quoting. The command reads the text from standard input. */
async function run([file = '', ...parts]: readonly string[], text: string, env: NodeJS.ProcessEnv) {
  const child = spawn(file, parts, {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: answerWithinMs,
    killSignal: 'SIGKILL',
  });
  // A command that does not read its input may exit before all of it has been written.
  child.stdin.on('error', () => undefined).end(text);
  await once(child, 'exit');
  if (child.exitCode === 0) return undefined;
  return `the command ended with ${child.signalCode ?? `exit code ${child.exitCode}`}`;
}

/** Times in `data` are in Unix seconds. */
function noticeEvent({ id, kind, subject, state, count, text, since, endedAt, revisedAt }: Notice) {
  return {
    type: `notice.${state}`,
    timestamp: new Date(revisedAt).toISOString(),
    data: {
      id,
      kind,
      subject,
      state,
      count,
      text,
      since: Math.floor(since / 1000),
      ...defined({ ended_at: endedAt === undefined ? undefined : Math.floor(endedAt / 1000) }),
    },
  };
}

function noticeText({ kind, subject, state, text, since, endedAt }: Notice): string {
  const title = `[mediary] ${state === 'open' ? '' : 'over: '}${kind.replaceAll('_', ' ')}: ${subject}`;
  const times =
    endedAt === undefined
      ? `Since ${new Date(since).toISOString()}.`
      : `From ${new Date(since).toISOString()} until ${new Date(endedAt).toISOString()}.`;
  return `${title}\n\n${state === 'open' ? text : 'The problem is over.'}\n${times}\n`;
}
