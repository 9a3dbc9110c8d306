import { defined } from '../base/defined.ts';
import { escaped } from '../base/plain-text.ts';
import { pino, type DestinationStream } from 'pino';

export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly format: 'json' | 'pretty';
  readonly destination?: DestinationStream;
}

/** Facts that are missing from `factNames` do not compile. */
export interface Logger {
  readonly debug: WriteLog;
  readonly info: WriteLog;
  readonly warn: WriteLog;
  readonly error: WriteLog;
}

/** The intersection rejects names from a spread object, which the compiler would otherwise accept. */
type WriteLog = <Facts extends LogFacts>(
  facts: Facts & { readonly [name in Exclude<keyof Facts, FactName>]: never },
  message: string,
) => void;

type FactName = (typeof factNames)[number];

type LogFacts = {
  readonly [name in FactName]?: name extends 'err' | 'error' | 'detail' ? unknown : LogValue;
};

type LogScalar = string | number | boolean | bigint | undefined;
type LogValue = LogScalar | readonly LogScalar[];

/**
 * The only facts that reach the log. They are listed one by one, so that no key, prompt, media or URL slips in with a
 * spread object. Anything that gets past the compiler is omitted and counted in `dropped`.
 */
const factNames = [
  'account', 'ahead_ms', 'action', 'activity', 'actor', 'address', 'again', 'amount', 'attempt', 'attempts', 'candidates', 'channel',
  'checked', 'code', 'component', 'count', 'credential', 'delay_ms', 'detail', 'duration_ms', 'err', 'error', 'event',
  'exit_code', 'key', 'kind', 'method', 'mode', 'model', 'name', 'operation', 'operator', 'outcome', 'pid', 'port', 'process',
  'progress', 'provider', 'queue', 'reason', 'refusal', 'repaired', 'request_id', 'retry_after_seconds', 'retry_in_ms',
  'role', 'run', 'running', 'server', 'sign', 'signal', 'state', 'status', 'step', 'target', 'task', 'until', 'upstream_id', 'url',
  'version', 'violations', 'waiting', 'workflow',
] as const; // prettier-ignore
const listed: ReadonlySet<string> = new Set(factNames);

const textCharactersMax = 2_000;
const listItemsMax = 50;
const causesMax = 3;

export function createLogger({ level, format, destination }: LogOptions): Logger {
  const output = destination ?? pino.destination(1);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: listedFacts,
      },
      // `listedFacts` has already turned the error into a description, which pino's own serializer would mistake for an
      // error.
      serializers: { err: (description: unknown) => description },
      hooks: {
        // Scrub only records that are written, so that disabled levels cost nothing.
        logMethod([facts, message], method) {
          method.apply(this, [facts, scrubForLog(String(message))]);
        },
      },
    },
    format === 'pretty' ? prettyStream(output) : output,
  );
  return {
    debug: (facts, message) => logger.debug<LogFacts>(facts, message),
    info: (facts, message) => logger.info<LogFacts>(facts, message),
    warn: (facts, message) => logger.warn<LogFacts>(facts, message),
    error: (facts, message) => logger.error<LogFacts>(facts, message),
  };
}

function listedFacts(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  let dropped = 0;
  for (const [name, value] of Object.entries(object)) {
    const clean = listed.has(name) ? cleanValue(value) : undefined;
    if (clean !== undefined) facts[name] = clean;
    else if (value !== undefined) dropped += 1;
  }
  if (dropped > 0) facts['dropped'] = dropped;
  return facts;
}

function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return scrubForLog(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) return describeError(value, causesMax);
  if (Array.isArray(value)) return value.slice(0, listItemsMax).map((item: unknown) => cleanScalar(item));
  return undefined;
}

function cleanScalar(value: unknown): unknown {
  return typeof value === 'object' ? null : (cleanValue(value) ?? null);
}

interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly detail?: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

/** Never includes `words`, because an upstream's message may repeat a caller's text. */
function describeError(error: Error, causes: number): ErrorDescription {
  const code =
    'code' in error && ['string', 'number'].includes(typeof error.code)
      ? scrubForLog(String(error.code))
      : undefined;
  const detail =
    'detail' in error && typeof error.detail === 'string' ? scrubForLog(error.detail) : undefined;
  return {
    type: scrubForLog(error.name),
    message: scrubForLog(error.message),
    ...defined({ code }),
    ...defined({ detail }),
    ...(error.stack === undefined ? {} : { stack: scrubForLog(error.stack) }),
    ...(error.cause instanceof Error && causes > 0 ? { cause: describeError(error.cause, causes - 1) } : {}),
  };
}

const patterns: readonly (readonly [RegExp, string])[] = [
  [/data:[\w.+/-]{0,64};base64,[A-Za-z0-9+/=_-]*/gi, '[data]'],
  [/\b(?:sk|pk|ak|whsec|ghp|r8)[-_][A-Za-z0-9_+/=-]{8,}/gi, '[key]'],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [key]'],
  [
    /\b(api[-_ ]?key|authorization|token|secret|password|signature)(["']?\s*[:=]\s*["']?)[^\s"',;&]+/gi,
    '$1$2[key]',
  ],
  [/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@]+@/gi, '$1[key]@'],
  [/([a-z][a-z0-9+.-]{0,20}:\/\/[^\s?#"'<>]+)[?#][^\s"'<>]*/gi, '$1?[query]'],
  [/(\/callbacks\/upstream\/[^/\s]+\/)[^/\s]+/g, '$1[token]'],
  // Base64 long enough to be a key, an image or a sealed value.
  [/(?<![\w+/=])(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Z])[A-Za-z0-9+/_-]{60,}={0,2}/g, '[data]'],
];

/** Removes keys, signed queries, base64 and terminal control characters. Truncates to 2,000 characters. */
export function scrubForLog(text: string): string {
  const cut = text.length > textCharactersMax ? `${text.slice(0, textCharactersMax)}…` : text;
  const clean = patterns.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), cut);
  return escaped(clean, { keepLines: true });
}

function prettyStream(destination: DestinationStream): DestinationStream {
  return {
    write(line) {
      const record: unknown = JSON.parse(line);
      if (typeof record !== 'object' || record === null) return;
      const { level, time, msg, ...rest }: Record<string, unknown> = { ...record };
      const details = Object.entries(rest).map(([name, value]) => `${name}=${formatValue(value)}`);
      const clock = formatValue(time).slice(11, 19);
      const message = typeof msg === 'string' ? msg : '';
      destination.write(
        `${[clock, formatValue(level).toUpperCase().padEnd(5), message, ...details].join(' ')}\n`,
      );
    },
  };
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return /\s/.test(value) ? JSON.stringify(value) : value;
  return JSON.stringify(value);
}
