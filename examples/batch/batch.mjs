import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/**
 * `node batch.mjs prompts.txt results.jsonl` makes a video for each line of prompts.txt, a few at a time. Run it again
 * after a crash, or if some videos have failed. It skips videos that have succeeded. A video that was requested before
 * the crash is found by its idempotency key, so it is not made twice. The first line of the results file identifies the
 * batch: a new results file starts a new batch.
 */
const {
  GATEWAY_URL = 'http://127.0.0.1:8080',
  GATEWAY_KEY = '',
  MODEL = 'seedance-2.0',
  CONCURRENCY = '8',
} = process.env;
const [promptFile = 'prompts.txt', resultFile = 'results.jsonl'] = process.argv.slice(2);
const url = `${GATEWAY_URL}/v1/videos/generations`;
const headers = { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' };

const prompts = readFileSync(promptFile, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '');
const written = existsSync(resultFile) ? readFileSync(resultFile, 'utf8') : '';
const entries = written.split('\n').flatMap(read);
const known = entries.find((entry) => entry.batch !== undefined)?.batch;
const batch = known ?? randomUUID();
if (written !== '' && !written.endsWith('\n')) appendFileSync(resultFile, '\n');
if (known === undefined) append({ batch });
const results = entries.filter((entry) => entry.line !== undefined);
const done = new Set(results.filter(({ status }) => status === 'succeeded').map(({ line }) => line));
const triesOf = (line) =>
  results.filter((result) => result.line === line && result.status === 'failed').length;

/** Skips invalid lines, because a crash may have cut off the last one. */
function read(text) {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

function append(entry) {
  appendFileSync(resultFile, `${JSON.stringify(entry)}\n`);
}

const left = prompts.map((prompt, line) => ({ prompt, line })).filter(({ line }) => !done.has(line));
console.log(`${done.size} done, ${left.length} to make`);
await Promise.all(Array.from({ length: Number(CONCURRENCY) }, work));
const isWhole = done.size === prompts.length;
console.log(
  `${done.size} of ${prompts.length} done${isWhole ? '' : ': run it again for those that have failed'}`,
);
process.exitCode = isWhole ? 0 : 1;

async function work() {
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { prompt, line } = next;
    // A key always returns the same task, so a new attempt after a failure needs a new key.
    const key = `${batch}-${line}-${triesOf(line)}`;
    let task = await ask(url, { method: 'POST', body: JSON.stringify({ model: MODEL, prompt }) }, key);
    while (task.status !== 'succeeded' && task.status !== 'failed')
      task = await ask(`${url}/${task.id}?wait=30`);
    const { id, status, video_url, charge, error } = task;
    const result = { line, id, status, video_url, charge, error: error?.message };
    append(result);
    results.push(result);
    if (status === 'succeeded') done.add(line);
  }
}

/**
 * Repeats the request after an outage or if a limit was reached. A create request may already have taken effect, but
 * its idempotency key prevents a second video.
 */
async function ask(address, init = {}, key) {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(address, {
      ...init,
      headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    }).catch(() => undefined);
    if (answer?.ok) return answer.json();
    const isPassing =
      answer === undefined || answer.status >= 500 || answer.status === 429 || answer.status === 408;
    if (!isPassing || tries > 100)
      throw new Error(answer === undefined ? 'no response' : await answer.text());
    const seconds = Number(answer?.headers.get('retry-after') ?? Math.min(tries, 30));
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}
