import { defined } from '../base/defined.ts';
import { isRecord } from '../base/is-record.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Reply } from './route.ts';

/**
 * Matches every formatted amount and nothing else. `formatMicros` writes six decimal places, but a calculation can have
 * more. Sentences may add a sign and the currency.
 */
const amount = /[-+−]?\b\d+\.\d{6,}\b(?: [A-Z]{3}\b)?/g;
/** The amounts in these fields have other forms. They are costs and balances reported by vendors, and micro-units. */
const otherAmounts: ReadonlySet<string> = new Set(['upstream_cost', 'upstream_balance', 'cost', 'least']);

export async function hideAmounts(run: () => Promise<Reply>): Promise<Reply> {
  try {
    return withoutAmounts(await run());
  } catch (error) {
    throw refusalWithoutAmounts(error);
  }
}

/**
 * Replaces amounts with null in fields and with an ellipsis in sentences. Throws operator_not_allowed for a report that
 * is written while it is sent.
 */
function withoutAmounts(reply: Reply): Reply {
  const { body, mediaType } = reply;
  if (body === undefined) return reply;
  if (typeof body !== 'string') {
    if ('destroy' in body) body.destroy();
    reply.onEnd?.();
    throw new GatewayError(
      'operator_not_allowed',
      'This report contains amounts and needs the amounts role.',
    );
  }
  const shown = mediaType.startsWith('application/json')
    ? JSON.stringify(hidden(JSON.parse(body)))
    : withoutAmountsInText(body);
  return { ...reply, body: shown };
}

function refusalWithoutAmounts(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, ...options } = error;
  return new GatewayError(code, withoutAmountsInText(message), { ...defined(options), cause: error });
}

function withoutAmountsInText(text: string): string {
  return text.replaceAll(amount, '…');
}

function hidden(value: unknown): unknown {
  if (typeof value === 'string') {
    const shown = withoutAmountsInText(value);
    return shown === '…' ? null : shown;
  }
  if (Array.isArray(value)) return value.map(hidden);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, otherAmounts.has(name) ? null : hidden(one)]),
  );
}
