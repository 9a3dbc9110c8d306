import { createServer } from 'node:http';

/**
 * A page that makes videos, and its server. The browser talks only to this server, which keeps the API key. In Next.js,
 * the two functions below would be the handlers of `app/api/videos/route.js` and `app/api/videos/[id]/route.js`.
 */
const {
  GATEWAY_URL = 'http://127.0.0.1:8080',
  GATEWAY_KEY = '',
  MODEL = 'seedance-2.0',
  PORT = '3000',
} = process.env;
const headers = { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' };

/** Handles POST. The page generates the `attempt` id, so that repeating the request does not make a second video. */
async function createVideo(request) {
  const { prompt, attempt } = await request.json();
  if (typeof prompt !== 'string' || typeof attempt !== 'string')
    return Response.json({ error: { message: 'Write a prompt.' } }, { status: 400 });
  const answer = await fetch(`${GATEWAY_URL}/v1/videos/generations`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': attempt },
    body: JSON.stringify({ model: MODEL, prompt: prompt.slice(0, 2000) }),
  });
  return shortened(answer);
}

/** Handles GET. Waits up to 20 s for a change. */
async function showVideo(id) {
  const path = `/v1/videos/generations/${encodeURIComponent(id)}?wait=20`;
  return shortened(await fetch(`${GATEWAY_URL}${path}`, { headers }));
}

/** Returns only what the page needs, and nothing about the account. */
async function shortened(answer) {
  const { id, status, message, video_url: url, error } = await answer.json();
  return Response.json({ id, status, message, url, error }, { status: answer.status });
}

const page = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <title>A video</title>
  <form>
    <label>Prompt <input name="prompt" required value="A paper boat on a rainy street" /></label>
    <button>Make a video</button>
  </form>
  <p role="status"></p>
  <video controls hidden></video>
  <script type="module">
    const [form, state, video] = ['form', 'p', 'video'].map((name) => document.querySelector(name));
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const body = JSON.stringify({ prompt: form.prompt.value, attempt: crypto.randomUUID() });
      let task = await ask('/api/videos', { method: 'POST', body });
      while (task.id && task.status !== 'succeeded' && task.status !== 'failed')
        task = await ask('/api/videos/' + task.id);
      if (task.url) Object.assign(video, { src: task.url, hidden: false });
    });
    async function ask(path, init) {
      const task = await (await fetch(path, init)).json();
      state.textContent = task.error?.message ?? task.message;
      return task;
    }
  </script>
</html>`;

async function route(request) {
  const { pathname } = new URL(request.url);
  if (pathname === '/')
    return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
  if (pathname === '/api/videos' && request.method === 'POST') return createVideo(request);
  const [, id] = /^\/api\/videos\/([\w-]+)$/.exec(pathname) ?? [];
  return id === undefined ? new Response('', { status: 404 }) : showVideo(id);
}

/** Converts between Node's requests and responses and those of the Fetch API, as a framework would. */
const server = createServer(async (incoming, outgoing) => {
  try {
    const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
    const init = { method: incoming.method, ...(hasBody ? { body: incoming, duplex: 'half' } : {}) };
    const answer = await route(new Request(`http://localhost${incoming.url}`, init));
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  } catch {
    outgoing.writeHead(502).end('{"error":{"message":"The gateway does not answer."}}');
  }
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
