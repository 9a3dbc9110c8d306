import { describe, expect, it } from 'vitest';
import { factsFor } from '../../src/models/facts-of-request.ts';
import { servedFacts } from '../../src/models/facts-table.ts';
import { providers } from '../../src/providers/index.ts';
import { canned, providerContext, submissionOf, videoRequest } from './support.ts';
import { parameters, probesOf, requestColumns, rowsOf, saidOf } from './vendor-matrix.ts';
import type { Probe, Served } from './vendor-matrix.ts';

/** The adapter must send what a cell of docs/providers.md promises. It must reject everything else or warn about it. */

const makers = Object.entries(providers).filter(([, { video }]) => video?.facts !== undefined);
const rows = makers.flatMap(([name, provider]) =>
  rowsOf(provider).map((row) => [name, row.model, row] as const),
);

function isChosen({ video, model }: Served, request: ReturnType<typeof videoRequest>): boolean {
  if (video.facts === undefined || typeof video.facts === 'function') return true;
  const { sound = 'choice' } = factsFor(request, servedFacts(video.facts, { upstream: model }));
  return sound === 'choice';
}

const probeOf = (over: Parameters<typeof videoRequest>[0]): Probe => ({
  request: videoRequest(over),
  plain: videoRequest(),
});

describe.each(rows)('%s, %s', (_, model, row) => {
  const { video, mapping } = row;
  const bodyOf = async (request: ReturnType<typeof videoRequest>) =>
    submissionOf(video, request, { model, ...(mapping === undefined ? {} : { mapping }) });

  const plainBodies = new Map<string, Promise<string>>();
  const plainBodyOf = async (request: ReturnType<typeof videoRequest>) => {
    const name = JSON.stringify(request);
    const body = plainBodies.get(name) ?? bodyOf(request);
    plainBodies.set(name, body);
    return body;
  };

  it('is the model of its own row', () => {
    const { facts } = video;
    const found =
      typeof facts === 'object' ? facts.models.find(([pattern]) => pattern.test(model))?.[0] : undefined;
    expect(found).toBe(row.pattern);
  });

  it('warns about a common parameter that the model lacks, and never rejects it', () => {
    const refused = Object.entries(parameters).filter(([name, values]) =>
      values.every((value) => saidOf(row, probeOf({ extra: { [name]: value } })) === 'refused'),
    );
    const plain = saidOf(row, probeOf({}));
    expect(plain === 'refused' ? [] : refused).toEqual([]);
  });

  async function brokenPromise(column: string, probe: Probe): Promise<string | undefined> {
    const said = saidOf(row, probe);
    if (said === 'refused') return undefined;
    const body = await bodyOf(probe.request);
    const isThere =
      probe.texts?.every((text) => body.includes(text)) ?? body !== (await plainBodyOf(probe.plain));
    const isKept = column === 'sound' && said === 'sent' && !isChosen(row, probe.request);
    return isKept || isThere === (said === 'sent') ? undefined : `${column} ${said}: ${body}`;
  }

  it('sends what the matrix promises, and nothing else', async () => {
    const cells = requestColumns.flatMap((column) => probesOf(column).map((probe) => ({ column, probe })));
    const broken = cells.map(async ({ column, probe }) => brokenPromise(column, probe));
    expect((await Promise.all(broken)).filter((words) => words !== undefined)).toEqual([]);
  });
});

describe.each(makers)('%s', (_, provider) => {
  const { video } = provider;
  const callbackUrl = 'https://gw.example/cb/x';
  const calls = async (
    ask: (context: ReturnType<typeof providerContext>) => Promise<unknown> | undefined,
  ) => {
    const upstream = canned({ status: 400, json: {} });
    await ask(providerContext({ request: upstream.request }))?.catch(() => undefined);
    return upstream.sent.length > 0;
  };

  it('cancels, and lists many jobs, if it declares that', async () => {
    const operation = { id: 'a-1', app: 'owner/name' };
    expect(await calls((context) => video?.cancel?.(operation, context))).toBe(
      video?.cancelUntil !== 'never',
    );
    expect(await calls((context) => video?.list?.([operation], context))).toBe(video?.listMax !== undefined);
  });

  it('sends the vendor a callback URL, if it declares that', async () => {
    const bodies = rowsOf(provider).map(async ({ model, mapping }) =>
      submissionOf(video, videoRequest(), {
        model,
        callbackUrl,
        ...(mapping === undefined ? {} : { mapping }),
      }),
    );
    const isGiven = (await Promise.all(bodies)).map((body) => decodeURIComponent(body).includes(callbackUrl));
    expect(isGiven.includes(true)).toBe(video?.parseCallback !== undefined);
  });
});
