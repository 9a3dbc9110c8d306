import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

/**
 * An upstream of your own, such as a model on your own machines. It has two routes for jobs, in the format of the
 * provider `gateway`, and one for results. This example renders nothing: after RENDER_SECONDS, each job returns the same
 * file.
 */
const { PORT = '9100', UPSTREAM_KEY = 'secret', RENDER_SECONDS = '5' } = process.env;
/** Mediary must be able to open this link, or the task does not succeed. */
const result = () => process.env.RESULT_URL ?? `http://127.0.0.1:${server.address().port}/video.mp4`;
/** `jobs` is keyed by job id, and `ids` by idempotency key. In production, store both so that they survive a restart. */
const jobs = new Map();
const ids = new Map();

function submit(key, { model, prompt, duration = 5 }) {
  if (typeof prompt !== 'string' || prompt === '')
    return [400, { error: { code: 'invalid_request', message: 'A prompt is required.' } }];
  const id = ids.get(key) ?? randomUUID();
  ids.set(key ?? id, id);
  if (!jobs.has(id))
    jobs.set(id, { id, model, duration, endsAt: Date.now() + Number(RENDER_SECONDS) * 1000 });
  return [200, show(jobs.get(id))];
}

/** `status` is queued, processing, completed or failed. A failed job also has `error: { code, message }`. */
function show({ id, model, duration, endsAt }) {
  return Date.now() < endsAt
    ? { id, model, status: 'processing' }
    : { id, model, status: 'completed', url: result(), duration };
}

function find(id) {
  const job = jobs.get(id);
  return job === undefined
    ? [404, { error: { code: 'task_not_found', message: 'There is no such job.' } }]
    : [200, show(job)];
}

const server = createServer(async (request, response) => {
  const send = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  try {
    if (request.url === '/video.mp4')
      return response.writeHead(200, { 'content-type': 'video/mp4' }).end('a video');
    if (request.headers.authorization !== `Bearer ${UPSTREAM_KEY}`)
      return send(401, { error: { code: 'invalid_api_key', message: 'The key is not valid.' } });
    let text = '';
    for await (const part of request) text += part;
    const [, id] = /^\/v1\/video\/generations(?:\/([\w-]+))?$/.exec(request.url) ?? [];
    if (id !== undefined && request.method === 'GET') return send(...find(id));
    if (id === undefined && request.method === 'POST' && request.url === '/v1/video/generations')
      return send(...submit(request.headers['idempotency-key'], JSON.parse(text)));
    return send(404, { error: { code: 'not_found', message: 'There is no such route.' } });
  } catch {
    return send(400, { error: { code: 'invalid_request', message: 'The body is not JSON.' } });
  }
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
