import { taskKinds } from '../../base/task-kind.ts';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../../base/canonical-json.ts';
import { heldBasis, readHoldReckoning, readSettleReckoning } from '../../money/ledger-basis.ts';
import { formatMicros } from '../../money/money.ts';
import { movementOf } from '../../money/movement.ts';
import { testedFacts } from '../../money/settle.ts';
import { settledByEstimate, settledReport } from '../../money/settled-facts.ts';
import type { Price } from '../../money/price.ts';
import type { SettleFacts } from '../../money/settle-facts.ts';
import type { Task } from '../../task/record.ts';
import { factsSchema, toFacts } from '../../flight/recorded-call.ts';
import type { LedgerEntry } from '../../ledger/entry.ts';
import type { RequestRecord } from '../../store/requests.ts';
import { movementMeaning } from './ledger-entry.ts';
import { presentWritten, reckoningSchema } from './reckoning.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

const hashSchema = z.string().meta({ description: 'SHA-256, in hexadecimal.' });

const payloadSchema = z.object({
  format: z.literal('mediary-receipt'),
  version: z.literal(1),
  issuer: z.string().nullable().meta({ description: 'The gateway’s PUBLIC_URL, or null if it has none.' }),
  task: z.string(),
  account: z.string(),
  kind: z.enum(taskKinds),
  model: z.string(),
  status: z.string(),
  error: z.string().nullable().meta({ description: 'The error code of a failed task.' }),
  created_at: unixSeconds(),
  completed_at: unixSeconds('Null while the task runs.').nullable(),
  currency: z.string(),
  hold: z.string().nullable(),
  charge: z.string().nullable().meta({ description: '0 for a failed task. Null while the task runs.' }),
  released: z.string().nullable().meta({
    description: 'The part of the hold that was released. Null while the task runs.',
  }),
  refunded: z.string(),
  estimated: z.boolean().meta({
    description:
      'True if the output was neither reported nor measured. The charge is then computed from the request, or is the lowest possible charge.',
  }),
  request: z
    .object({
      sha256: hashSchema.meta({
        description: 'The hash of the rendered request in canonical form (RFC 8785).',
      }),
      prompt_sha256: hashSchema.meta({ description: 'The hash of the UTF-8 prompt.' }),
    })
    .nullable()
    .meta({ description: 'Null if the request is no longer kept.' }),
  basis: z.record(z.string(), z.unknown()).nullable().meta({
    description:
      'The prices that were frozen with the hold, the account’s factor, the facts of the request on which the prices depend, and the limits of each measure. The facts apply to the channel in `charge_reckoning`, or to the one in `hold_reckoning` if nothing is charged.',
  }),
  usage: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'The part of the upstream’s report that determines the charge.' }),
  media: z
    .array(
      z.object({
        file: z.string(),
        sha256: hashSchema.meta({ description: 'The hash of the delivered bytes.' }),
      }),
    )
    .nullable()
    .meta({ description: 'The results that the gateway has copied. Null if there are none.' }),
  hold_reckoning: reckoningSchema.nullable(),
  charge_reckoning: reckoningSchema.nullable().meta({
    description:
      'Each line with its quantity and the source of the quantity, the facts, and the steps after the sum. Null if nothing is charged or the charge has not been decided yet.',
  }),
  ledger: z
    .array(
      z.object({
        entry: z.string().meta({
          description:
            'The position of the entry in the chain: the account and the number of the entry in the account’s chain.',
        }),
        kind: z.string(),
        amount: z.string().meta({ description: movementMeaning }),
        excess: z
          .string()
          .nullable()
          .meta({ description: 'How much the next entry charges beyond the hold.' }),
        available: z.string(),
        held: z.string(),
        at: unixSeconds(),
        hash: z.string().meta({ description: 'The hash of the entry, which covers every entry before it.' }),
      }),
    )
    .meta({ description: 'The task’s ledger entries, in ledger order.' }),
});

export const receiptSchema = z
  .object({
    object: z.literal('receipt'),
    task: z.string(),
    payload: payloadSchema,
    jws: z.string().meta({
      description:
        'The signed payload: a compact JWS, signed using Ed25519 (EdDSA) and a key from `/.well-known/jwks.json`. Its content is `payload` in canonical form (RFC 8785).',
    }),
  })
  .meta({ id: 'Receipt' });

export interface ReceiptSources {
  readonly entries: readonly LedgerEntry[];
  readonly request: Pick<RequestRecord, 'request'> | undefined;
  readonly currency: string;
  readonly issuer: string | undefined;
}

type Subject = Pick<Task, 'id' | 'account' | 'kind' | 'model' | 'status' | 'createdAt'> &
  Partial<Pick<Task, 'error' | 'completedAt' | 'outcome'>>;

/** Synchronous images have no task record, so their ledger entries are the only source. */
export function subjectOfEntries(entries: readonly LedgerEntry[]): Subject | undefined {
  const hold = entries.find(({ kind }) => kind === 'hold');
  if (hold === undefined) return undefined;
  const { task: id = '', account, model = '', at: createdAt } = hold;
  const close = entries.find(({ kind }) => kind === 'settle' || kind === 'release');
  const subject = { id, account, model, kind: 'image', createdAt } as const;
  if (close === undefined) return { ...subject, status: 'running' };
  return { ...subject, status: close.kind === 'settle' ? 'succeeded' : 'failed', completedAt: close.at };
}

export function moneyOf(entries: readonly LedgerEntry[]) {
  const [hold, settled, refund] = (['hold', 'settle', 'refund'] as const).map((kind) =>
    entries.find((entry) => entry.kind === kind),
  );
  const isReleased = entries.some(({ kind }) => kind === 'release' || kind === 'void');
  const charge = settled === undefined ? undefined : settled.amount + (settled.excess ?? 0n);
  return { hold, settled, charge: charge ?? (isReleased ? 0n : undefined), refunded: refund?.amount ?? 0n };
}

/** Once the task has finished, only a refund can change the receipt. */
export function presentReceipt(task: Subject, sources: ReceiptSources): z.output<typeof payloadSchema> {
  const { entries, request, currency, issuer = null } = sources;
  const { hold, settled, charge, refunded } = moneyOf(entries);
  const { outcome } = task;
  const written = { holdBasis: hold?.basis, currency };
  const held = readHoldReckoning(hold?.basis);
  const charged = readSettleReckoning(settled?.basis);
  return {
    format: 'mediary-receipt',
    version: 1,
    issuer,
    task: task.id,
    account: task.account,
    kind: task.kind,
    model: task.model,
    status: task.status,
    error: task.error?.code ?? null,
    created_at: toSeconds(task.createdAt),
    completed_at: secondsOrNull(task.completedAt),
    currency,
    hold: hold === undefined ? null : formatMicros(hold.amount),
    charge: charge === undefined ? null : formatMicros(charge),
    released: releasedOf(hold?.amount, charge),
    refunded: formatMicros(refunded),
    estimated: settledByEstimate(settled?.basis),
    request: request === undefined ? null : presentRequest(request),
    basis: presentBasis(hold?.basis, (charged ?? held)?.facts.channel),
    usage: presentUsage(outcome?.kind === 'succeeded' ? outcome.facts : reportOf(settled)),
    media: presentMedia(outcome),
    hold_reckoning: presentWritten(held, written),
    charge_reckoning: presentWritten(charged, written),
    ledger: entries.toSorted((one, other) => Number(one.seq - other.seq)).map(presentEntry),
  };
}

function releasedOf(held: bigint | undefined, charge: bigint | undefined): string | null {
  if (held === undefined || charge === undefined) return null;
  return formatMicros(held > charge ? held - charge : 0n);
}

function presentRequest({ request }: Pick<RequestRecord, 'request'>) {
  return {
    sha256: hash('sha256', canonicalJson(request)),
    prompt_sha256: hash('sha256', request.prompt),
  };
}

function presentBasis(text: string | undefined, channel = ''): Record<string, unknown> | null {
  const basis = heldBasis(text);
  if (basis === undefined) return null;
  const { price, channels = {}, factor = '1', bounds = {}, least = null, version } = basis;
  const facts = testedFacts(basis, channel);
  const own = Object.entries(channels).map(([channel, rules]) => [channel, pricesOf(rules)] as const);
  return { price: pricesOf(price), channels: Object.fromEntries(own), factor, facts, bounds, least, version };
}

function pricesOf({ minimum, lines }: Price) {
  return { minimum, lines };
}

function reportOf(settled: LedgerEntry | undefined): SettleFacts | undefined {
  const report = factsSchema.safeParse(settledReport(settled?.basis)).data;
  return report === undefined ? undefined : toFacts(report);
}

function presentUsage(said: SettleFacts | undefined): Record<string, unknown> | null {
  if (said === undefined) return null;
  const { usage, ...facts } = said;
  return {
    completion_tokens: usage?.completionTokens,
    total_tokens: usage?.totalTokens,
    text_tokens: usage?.textTokens,
    input_text_tokens: usage?.inputTextTokens,
    input_image_tokens: usage?.inputImageTokens,
    input_audio_tokens: usage?.inputAudioTokens,
    input_video_tokens: usage?.inputVideoTokens,
    cached_tokens: usage?.cachedTokens,
    duration: facts.durationSeconds,
    frames: facts.frames,
    input_seconds: facts.inputSeconds,
    input_images: facts.inputImages,
    resolution: facts.resolution,
    ratio: facts.ratio,
    size: facts.size,
    quality: facts.quality,
    generate_audio: facts.generateAudio,
    images: facts.images,
    groups: facts.groups,
    measured: facts.measured,
  };
}

function presentMedia(outcome: Subject['outcome']) {
  const items = outcome?.kind === 'succeeded' ? outcome.items : [];
  const media = items.flatMap(({ stored }) =>
    stored === undefined ? [] : [{ file: stored.name, sha256: stored.sha256 }],
  );
  return media.length === 0 ? null : media;
}

function presentEntry(entry: LedgerEntry) {
  const { id, kind, excess, available, held, at, hash: own } = entry;
  return {
    entry: id,
    kind,
    amount: formatMicros(movementOf(entry)),
    excess: excess === undefined ? null : formatMicros(movementOf({ kind: 'charge_extra', amount: excess })),
    available: formatMicros(available),
    held: formatMicros(held),
    at: toSeconds(at),
    hash: own,
  };
}
