import { isRecord } from '../../../base/is-record.ts';
import { defined } from '../../../base/defined.ts';
import type { FixtureStep } from '../../../models/vendor-file.ts';
import type { GenerationRequest } from '../../../models/request.ts';
import { UpstreamError } from '../../provider.ts';
import type { Operation, Provider, SubmitContext, TaskProvider } from '../../provider.ts';

export interface Running {
  readonly provider: Provider;
  readonly request: GenerationRequest;
  readonly context: SubmitContext;
  readonly operation: Operation;
}

export type Outcome = Readonly<Record<string, unknown>>;

export async function runStep(step: FixtureStep['do'], running: Running): Promise<Outcome> {
  try {
    const outcome = spelled(await outcomeOf(step, running));
    return isRecord(outcome) ? outcome : { result: outcome };
  } catch (error) {
    if (error instanceof UpstreamError) return { error: errorOutcome(error) };
    throw error;
  }
}

async function outcomeOf(step: FixtureStep['do'], running: Running): Promise<unknown> {
  const { provider, request, context } = running;
  if (step === 'generate') {
    if (provider.image === undefined || request.kind !== 'image') return missing(step);
    const { images, facts, cost } = await provider.image.generate(request, context);
    const shown = images.map(({ base64, ...image }) => defined({ ...image, base64: base64?.toString() }));
    return defined({ images: shown, facts, cost });
  }
  if (request.kind === 'video')
    return provider.video === undefined
      ? missing(step)
      : jobStep(step, provider.video, { ...running, request });
  return provider.imageTask === undefined
    ? missing(step)
    : jobStep(step, provider.imageTask, { ...running, request });
}

async function jobStep<Request extends GenerationRequest>(
  step: Exclude<FixtureStep['do'], 'generate'>,
  part: TaskProvider<Request>,
  { request, context, operation }: Running & { readonly request: Request },
): Promise<unknown> {
  switch (step) {
    case 'submit':
      return (await part.submit(request, context)).operation;
    case 'status':
      return part.status(operation, context);
    case 'cancel':
      return { result: (await part.cancel?.(operation, context)) ?? missing(step) };
    case 'list':
      return {
        jobs: [...((await part.list?.([operation], context)) ?? [])].map(([id, job]) => ({ id, ...job })),
      };
    case 'find': {
      const found = await part.find?.(
        { request, marker: context.marker, sentAfter: 0, sentBefore: 0 },
        context,
      );
      return { ids: (found ?? []).map((one) => one.operation.id) };
    }
  }
}

function missing(step: string): string {
  return `the file has no ${step}`;
}

function errorOutcome({ outcome, code, words, status, gone, failure, retryAfterMs }: UpstreamError): object {
  return spelled(defined({ outcome, code, message: words, status, gone, ...failure, retryAfterMs }));
}

function spelled(value: object): object;
function spelled(value: unknown): unknown;
function spelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => spelled(each));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [
    /^[a-z][A-Za-z]*$/.test(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name,
    spelled(each),
  ]);
  return Object.fromEntries(entries);
}

export function lackOf(outcome: unknown, expected: unknown, path = ''): string | undefined {
  if (isRecord(expected)) {
    for (const [name, value] of Object.entries(expected)) {
      const own = isRecord(outcome) && Object.hasOwn(outcome, name) ? outcome[name] : undefined;
      const lack = lackOf(own, value, path === '' ? name : `${path}.${name}`);
      if (lack !== undefined) return lack;
    }
    return undefined;
  }
  if (Array.isArray(expected) && Array.isArray(outcome) && expected.length === outcome.length) {
    const lacks = expected.map((value, index) => lackOf(outcome[index], value, `${path}[${index}]`));
    return lacks.find((lack) => lack !== undefined);
  }
  return outcome === expected ? undefined : path;
}
