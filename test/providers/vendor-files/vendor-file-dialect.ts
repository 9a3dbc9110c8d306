import { randomUUID } from 'node:crypto';
import type { Fixture, VendorFile } from '../../../src/models/vendor-file.ts';
import { specimensOf, withTexts } from '../../../src/providers/vendor-files/verification/specimens.ts';
import type { RecordedAnswer } from '../../../src/providers/vendor-files/verification/specimens.ts';
import type { Specimens } from '../../../src/providers/vendor-files/verification/specimens.ts';
import { bearerToken, dialect, json, parseJson, readForm } from '../../../workshop/simulator/engine.ts';
import { refusals, textsOf, type Call, type Desk, type Handler } from '../../../workshop/simulator/engine.ts';
import type { Job, Rendered, Reply, WireRequest } from '../../../workshop/simulator/engine.ts';
import { empty } from '../../../workshop/simulator/wire.ts';
import type { CreateDialect } from '../../../workshop/simulator/dialect.ts';
import type { World } from '../../../workshop/simulator/world.ts';

/** Responds with the fixtures of the file, with their ids and links replaced by those of the simulator's jobs. */
export function vendorFileDialect(file: VendorFile): CreateDialect {
  const kind = file.videos === undefined ? 'image' : 'video';
  const specimens = specimensOf(file, kind);
  const refuse = refusals(({ status, message }) =>
    json(status, withTexts(specimens.refused?.answers ?? [], () => message)[0]?.json ?? { error: message }),
  );
  return dialect({
    name: file.name,
    prefix: `/${file.name}`,
    mistake: ({ path, reason }) => refuse(400, '', `${path}: ${reason}`),
    problems: {
      unauthorized: refuse(401, '', 'unauthorized'),
      forbidden: refuse(403, '', 'forbidden'),
      'not-found': refuse(404, '', 'not found'),
      'rate-limited': refuse(429, '', 'too many requests'),
      'quota-exhausted': refuse(402, '', 'no balance'),
      internal: refuse(500, '', 'internal error'),
      unavailable: refuse(503, '', 'unavailable'),
    },
    keyOf: (request, world) => keyOf(file, request, world),
    routes: (desk) => ({
      ...creations(file, kind, { desk, specimens }),
      ...jobRoutes(file, { desk, specimens }),
    }),
  });
}

function keyOf({ authentication }: VendorFile, request: WireRequest, world: World): string | undefined {
  if ('bearer' in authentication) return bearerToken(request);
  if ('query' in authentication) return request.query.get(authentication.query) ?? undefined;
  if ('header' in authentication) {
    const value = request.headers[authentication.header.toLowerCase()];
    return typeof value === 'string' ? value.slice(authentication.prefix.length) : undefined;
  }
  // Signatures are not checked, because fixtures do not say what a signature covers.
  return world.parts.apiKeys?.[0] ?? 'signed';
}

interface Answering {
  readonly desk: Desk<Rendered>;
  readonly specimens: Specimens;
}

const detailOf = (kind: Fixture['kind']): Rendered =>
  kind === 'video'
    ? { width: 1280, height: 720, seconds: 5 }
    : { width: 64, height: 64, seconds: 0, images: 1 };

function creations(
  { fixtures }: VendorFile,
  kind: Fixture['kind'],
  { desk }: Answering,
): Readonly<Record<string, Handler>> {
  const recorded = fixtures
    .filter((fixture) => fixture.kind === kind)
    .flatMap(({ steps }) => steps)
    .filter((step) => (step.do === 'submit' || step.do === 'generate') && step.expect['error'] === undefined);
  const routes = recorded.flatMap((step) => {
    const [exchange] = step.exchanges;
    if (exchange === undefined) return [];
    const handler = (call: Call) => create(call, { desk, kind, step, answer: exchange.answer });
    return [[`${exchange.send.method} ${exchange.send.path}`, handler] as const];
  });
  return Object.fromEntries(routes.toReversed());
}

interface Creating {
  readonly desk: Desk<Rendered>;
  readonly kind: Fixture['kind'];
  readonly step: Fixture['steps'][number];
  readonly answer: RecordedAnswer;
}

async function create({ request }: Call, { desk, kind, step, answer }: Creating): Promise<Reply> {
  const form = await readForm(request);
  const parsed = form === undefined ? parseJson(request.body) : textsOf(form);
  const fields: object = typeof parsed === 'object' && parsed !== null ? parsed : {};
  const text = (name: string): string => {
    const value: unknown = Reflect.get(fields, name);
    return typeof value === 'string' ? value : '';
  };
  return desk.create(request, { model: text('model'), prompt: text('prompt') }, async (submission) => {
    const order = { id: randomUUID(), detail: detailOf(kind) };
    const job = await (step.do === 'generate'
      ? desk.paint(submission, order)
      : desk.accept(submission, order));
    const { id } = step.expect;
    return replied(answer, job, typeof id === 'string' ? id : undefined);
  });
}

function jobRoutes(file: VendorFile, { desk, specimens }: Answering): Readonly<Record<string, Handler>> {
  const jobs = file.videos ?? file.images;
  if (jobs === undefined || !('status' in jobs)) return {};
  const { path, result } = jobs.status;
  const route = (template: string): string => template.replace('{id}', ':id');
  const ask =
    (index: number): Handler =>
    (call) =>
      desk.about('poll', call, (job) => {
        const specimen = specimenOf(job, specimens);
        const recorded = specimen?.answers[index] ?? specimen?.answers[0];
        return recorded === undefined
          ? desk.problem('internal')
          : replied(recorded, job, recordedId(specimen?.fixture));
      });
  return {
    [`GET ${route(path)}`]: ask(0),
    ...(result === undefined ? {} : { [`GET ${route(result.path)}`]: ask(1) }),
  };
}

function specimenOf({ phase }: Job, { pending, succeeded, failed }: Specimens) {
  if (phase === 'succeeded') return succeeded;
  return phase === 'failed' || phase === 'expired' || phase === 'cancelled' ? failed : pending;
}

function recordedId(fixture: Fixture | undefined): string {
  const id = fixture?.steps.find((step) => step.do === 'submit')?.expect['id'];
  return typeof id === 'string' ? id : 'fixture';
}

function replied(answer: RecordedAnswer, job: Job, id: string | undefined): Reply {
  if (answer.json === undefined) return empty(answer.status);
  const [link] = job.links();
  const own = (text: string): string | undefined => {
    if (/^https?:\/\//.test(text)) return link;
    return id === undefined ? text : text.replace(id, job.id);
  };
  return json(answer.status, withTexts([answer], own)[0]?.json, answer.headers);
}
